"""A person speaks while it works for itself: the work is put aside at its next boundary, the person comes first."""

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.context import block
from agent.event import SELF_CREATED, TIMER, Event
from agent.run.act import BROKEN_OFF
from agent.tools.tool import Tool, tool
from memory.json_value import Json
from tests.agent.mind import TestMind, a_mind, spoken
from tests.agent.wire_form import wire_form
from tests.fakes import ScriptedModel, calls

HELLO = ("reply", '{"text": "Hello there."}')


def work(content: str = "tidy up", **fields: object) -> Event:
    return Event(type=SELF_CREATED, content=content, source="self", **fields)  # type: ignore[arg-type]


class Tools:
    """One tool of each effect, that run until they are let go."""

    def __init__(self) -> None:
        self.begun = asyncio.Queue[str](10)
        self.ended: list[str] = []
        self.let_go = asyncio.Event()

    def all(self, *, slow: bool = False) -> list[Tool]:
        async def read() -> Json:
            """Read."""
            return await self._run("read")

        async def draft() -> Json:
            """Draft."""
            return await self._run("draft")

        async def send() -> Json:
            """Send."""
            return await self._run("send")

        return [tool(read, effect="pure", is_slow=slow), tool(draft, effect="reversible"), tool(send)]

    async def _run(self, name: str) -> str:
        await self.begun.put(name)
        await self.let_go.wait()
        self.ended.append(name)
        return f"{name} done"


async def person_comes_next(mind: TestMind, person: Event) -> None:
    hand = await mind.mailbox.take()
    assert hand.event.id == person.id
    await mind.loop.handle(hand)
    assert await mind.state_of(person) == "completed"


@pytest.mark.shows("A18", "A4")
@pytest.mark.parametrize(
    "first", [work(priority=10), replace(spoken("before"), priority=5)], ids=["as urgent", "a person's"]
)
async def test_what_is_as_urgent_or_a_person_s_is_not_put_aside(tmp_path: Path, first: Event) -> None:
    model = ScriptedModel(calls(HELLO, prefix="a"), calls(HELLO, prefix="b"))
    model.hold[0] = asyncio.Event()
    person = spoken("hello")
    async with a_mind(tmp_path, [model]) as mind:
        async with mind.at_work(first):
            await mind.mailbox.enqueue(person)
            await mind.noticed()
            model.hold[0].set()
        assert await mind.state_of(first) == "completed"
        await person_comes_next(mind, person)


@pytest.mark.shows("A18", "A20")
async def test_a_background_thought_is_cut_off_and_the_work_comes_back_with_a_note(tmp_path: Path) -> None:
    model = ScriptedModel(
        calls(("check_mailbox", "{}"), prefix="a"), calls(HELLO, prefix="b"), calls(HELLO, prefix="c")
    )
    model.hold[1] = asyncio.Event()
    chore, person = work(), spoken("hello")
    async with a_mind(tmp_path, [model]) as mind:
        asked = aiter(mind.mind.bus.observe("llm.requests"))
        async with mind.at_work(chore):
            await anext(asked)
            await anext(asked)
            await mind.mailbox.enqueue(person)
        filed = await mind.mailbox.find(chore.id)
        assert filed is not None
        assert filed.state == "suspended"
        assert filed.progress.note.startswith("Put aside: a person spoke. Last calls: check_mailbox {} -> {")
        assert filed.progress.model_calls == 1, "the thought that was cut off is not counted"
        assert filed.due_at is not None, "it comes back by itself"
        await person_comes_next(mind, person)
        wire_form(model.requests[2])


@pytest.mark.shows("A20", "A18", "B10")
async def test_pure_and_reversible_tools_are_broken_off_and_the_irreversible_one_keeps_its_time(tmp_path: Path) -> None:
    tools = Tools()
    model = ScriptedModel(calls(("read", "{}"), ("send", "{}"), ("draft", "{}"), prefix="a"), calls(HELLO, prefix="b"))
    chore, person = work(priority=-5), spoken("hello")
    async with a_mind(tmp_path, [model], tools.all()) as mind:
        async with mind.at_work(chore):
            for _ in range(3):
                await tools.begun.get()
            await mind.mailbox.enqueue(person)
            await mind.noticed()
            assert await mind.state_of(chore) == "in_hand", "no boundary yet: a call has no result"
            assert mind.outlet.said == ["One moment."], "the person hears that it takes a moment"
            await mind.mailbox.enqueue(spoken("are you there", metadata={"continues": person.id}))
            tools.let_go.set()
        assert tools.ended == ["send"]
        assert await mind.state_of(chore) == "suspended"
        results = [message.content for message in mind.loop_epoch.messages[-3:]]
        assert results == [BROKEN_OFF, "send done", BROKEN_OFF], "each call has its result, in call order"
        await mind.handle_next()
        assert mind.outlet.said[-1] == "Hello there."
    assert len(model.requests) == 2, "no thought of the work came before the person"


@pytest.mark.shows("A20")
async def test_words_that_come_while_the_work_is_being_taken_up_are_noticed_too(tmp_path: Path) -> None:
    model = ScriptedModel(calls(HELLO))
    chore, person = work(), spoken("hello")
    async with a_mind(tmp_path, [model]) as mind, asyncio.timeout(120), asyncio.TaskGroup() as group:
        await mind.mailbox.enqueue(chore)
        hand = await mind.mailbox.take()
        await mind.mailbox.enqueue(person)
        watch = group.create_task(mind.loop.watch())
        await mind.loop.handle(hand)
        watch.cancel()
        assert await mind.state_of(chore) == "suspended"
        await person_comes_next(mind, person)


@pytest.mark.shows("A18")
@pytest.mark.parametrize(
    "arriving", [work("another chore", priority=9), Event(type=TIMER, content="ring", priority=20, source="timer")]
)
async def test_only_a_person_puts_work_aside(tmp_path: Path, arriving: Event) -> None:
    model = ScriptedModel(calls(HELLO))
    model.hold[0] = asyncio.Event()
    chore = work()
    async with a_mind(tmp_path, [model]) as mind:
        async with mind.at_work(chore):
            await mind.mailbox.enqueue(arriving)
            await mind.noticed()
            model.hold[0].set()
        assert await mind.state_of(chore) == "completed"


async def test_a_persons_event_is_not_put_aside_for_another(tmp_path: Path) -> None:
    model = ScriptedModel(calls(HELLO))
    model.hold[0] = asyncio.Event()
    first = spoken("tell me something")
    async with a_mind(tmp_path, [model]) as mind:
        async with mind.at_work(first):
            await mind.mailbox.enqueue(spoken("and something else"))
            await mind.noticed()
            model.hold[0].set()
        assert await mind.state_of(first) == "completed"


@pytest.mark.shows("A6", "A20")
async def test_work_put_aside_goes_on_with_what_was_noted(tmp_path: Path) -> None:
    model = ScriptedModel(calls(("check_mailbox", "{}"), prefix="a"), calls(HELLO), calls(HELLO, prefix="c"))
    model.hold[1] = asyncio.Event()
    chore = work()
    async with a_mind(tmp_path, [model]) as mind:
        asked = aiter(mind.mind.bus.observe("llm.requests"))
        async with mind.at_work(chore):
            await anext(asked)
            await anext(asked)
            await mind.mailbox.enqueue(spoken("hello"))
        noted = await mind.mailbox.find(chore.id)
        assert noted is not None
        await mind.mailbox.complete((await mind.mailbox.take()).event.id, "", {})
        await mind.loop.handle(noted.progress)
    seen = block.parse(model.requests[2][-1].content)
    assert seen is not None
    assert seen.situation["Note"] == noted.progress.note


@pytest.mark.shows("G1")
@pytest.mark.parametrize(
    ("event", "slow", "said_before", "fillers"),
    [
        (spoken("what is the weather"), True, False, ["One moment."]),
        (spoken("天气怎么样"), True, False, ["请稍等。"]),
        (spoken("what is the weather"), False, False, []),
        (spoken("what is the weather"), True, True, []),
        (work(), True, False, []),
    ],
)
async def test_a_tool_that_is_expected_to_be_slow_is_told_once(
    tmp_path: Path, event: Event, slow: bool, said_before: bool, fillers: list[str]
) -> None:
    tools = Tools()
    say = [("reply", '{"text": "Let me look."}')] if said_before else []
    model = ScriptedModel(
        calls(*say, ("read", "{}"), prefix="a"), calls(("read", "{ }"), prefix="b"), calls(HELLO, prefix="c")
    )
    async with a_mind(tmp_path, [model], tools.all(slow=slow)) as mind:
        async with mind.at_work(event):
            await tools.begun.get()
            if fillers:
                await mind.outlet.sentence_said.wait()
            tools.let_go.set()
            await tools.begun.get()
        said = [sentence for sentence in mind.outlet.said if sentence not in {"Let me look.", "Hello there."}]
    assert said == fillers
