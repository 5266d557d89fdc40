"""After a crash: the same event comes back, and the sentence already spoken is not spoken again."""

import asyncio
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from agent.context.epoch import Prefix
from agent.event import SELF_CREATED, Event
from agent.mailbox import MAX_ATTEMPTS
from agent.model.messages import Message
from agent.replies import SENTENCE_STARTED
from agent.run.opening import said_since
from agent.tools.tool import tool
from memory.errors import StateUnusable
from memory.state.journal import Stored
from tests.agent.mind import AT_ONCE, Start, TestMind, a_mind, spoken
from tests.agent.wire_form import wire_form
from tests.fakes import ScriptedModel, calls
from tests.memory.state.test_tiers_full import room_for

COUNT = ("reply", '{"text": "Number one is here. Number two is here. Number three is here."}')
DONE = ("complete_event", '{"summary": "counted"}')


async def die_speaking(mind: TestMind, event: Event, *sentences: str) -> None:
    """Handle the event up to the moment at which these sentences were committed and the rest still plays; then die."""
    mind.outlet.playing.clear()
    await mind.mailbox.enqueue(event)
    hand = await mind.mailbox.take()
    async with asyncio.TaskGroup() as group:
        life = group.create_task(mind.loop.handle(hand))
        async with asyncio.timeout(120):
            await mind.outlet.sentence_said.wait()
        await mind.committed(event, *sentences)
        life.cancel()


@pytest.mark.shows("A24", "B10")
@pytest.mark.parametrize(
    ("answer", "dies_at"),
    [
        (calls(COUNT), "llm.results"),
        (calls(COUNT), "tools.results"),
        (calls(COUNT, DONE), "llm.results"),
        (calls(COUNT, DONE), "tools.results"),
        (Message("assistant", "Number one is here. Number two is here. Number three is here."), "llm.results"),
    ],
)
async def test_what_was_journaled_whole_is_spoken_on_without_the_model(
    tmp_path: Path, answer: Message, dies_at: str
) -> None:
    event = spoken("count to three")
    model = ScriptedModel(answer)
    async with a_mind(tmp_path, [model]) as mind:
        mind.outlet.playing.clear()
        seen = mind.mind.bus.observe(dies_at)
        await mind.mailbox.enqueue(event)
        hand = await mind.mailbox.take()
        async with asyncio.timeout(120), asyncio.TaskGroup() as group:
            life = group.create_task(mind.loop.handle(hand))
            await anext(aiter(seen))
            await mind.committed(event, "Number one is here.")
            life.cancel()
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle_next()
        assert mind.outlet.said == ["Number two is here.", "Number three is here."]
        assert await mind.state_of(event) == "completed"
    assert len(model.requests) == 1


async def test_when_the_answer_was_not_whole_it_goes_on_from_what_was_said(tmp_path: Path) -> None:
    event = spoken("count to three")
    model = ScriptedModel(calls(COUNT), calls(COUNT, prefix="again"))
    model.hold[0] = asyncio.Event()
    async with a_mind(tmp_path, [model]) as mind:
        await die_speaking(mind, event, "Number one is here.")
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle_next()
        assert mind.outlet.said == ["Number two is here.", "Number three is here."], (
            "even from a model that begins anew"
        )
        assert await mind.state_of(event) == "completed"
    assert [message.role for message in model.requests[1]] == ["system", "user", "assistant", "tool"]
    assert "Number one is here." in model.requests[1][2].tool_calls[0].arguments


async def test_what_was_said_is_known_also_where_the_note_holds_what_a_block_cannot(tmp_path: Path) -> None:
    event = spoken("count to three")
    suspends = ("suspend_event", '{"note": "half \\u001b[31m way", "wake_on": "parcel"}')
    model = ScriptedModel(calls(suspends, prefix="a"), calls(COUNT, prefix="b"), calls(COUNT, prefix="c"))
    model.hold[1] = asyncio.Event()
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(event)
        await mind.mailbox.wake("parcel")
        await die_speaking(mind, event, "Number one is here.")
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle_next()
        assert mind.outlet.said == ["Number two is here.", "Number three is here."]
    assert sum("<Note>" in message.content for message in model.requests[2]) == 1


async def test_the_block_of_a_redelivered_event_stands_once_in_the_context(tmp_path: Path) -> None:
    event = spoken("hello")
    model = ScriptedModel(calls(COUNT), calls(COUNT, prefix="again"))
    model.hold[0] = asyncio.Event()
    async with a_mind(tmp_path, [model]) as mind:
        await die_speaking(mind, event)
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle_next()
    assert model.requests[1] == model.requests[0]


async def test_a_call_without_result_gets_one_that_says_so_and_is_not_repeated(tmp_path: Path) -> None:
    times: list[str] = []
    running = asyncio.Event()

    async def ring_the_bell() -> str:
        """Ring it."""
        times.append("rung")
        running.set()
        await asyncio.Event().wait()
        return "rung"

    event = spoken("ring the bell")
    model = ScriptedModel(calls(("ring_the_bell", "{}"), prefix="a"), calls(COUNT, prefix="b"))
    async with a_mind(tmp_path, [model], [tool(ring_the_bell)]) as mind:
        await mind.mailbox.enqueue(event)
        hand = await mind.mailbox.take()
        async with asyncio.TaskGroup() as group:
            life = group.create_task(mind.loop.handle(hand))
            async with asyncio.timeout(120):
                await running.wait()
            life.cancel()
    async with a_mind(tmp_path, [model], [tool(ring_the_bell)]) as mind:
        await mind.handle_next()
    assert times == ["rung"]
    assert model.requests[1][-1].content.startswith("unknown: the machine stopped")


@pytest.mark.shows("A24", "B1")
async def test_another_event_that_comes_first_finds_a_legal_list(tmp_path: Path) -> None:
    running = asyncio.Event()

    async def tidy() -> str:
        """Tidy up."""
        running.set()
        await asyncio.Event().wait()
        return "tidy"

    own = Event(SELF_CREATED, "tidy up", source="self", priority=-5)
    model = ScriptedModel(calls(("tidy", "{}"), prefix="a"), calls(COUNT, prefix="b"), calls(DONE, prefix="c"))
    async with a_mind(tmp_path, [model], [tool(tidy)]) as mind:
        await mind.mailbox.enqueue(own)
        hand = await mind.mailbox.take()
        async with asyncio.timeout(120), asyncio.TaskGroup() as group:
            life = group.create_task(mind.loop.handle(hand))
            await running.wait()
            life.cancel()
    async with a_mind(tmp_path, [model], [tool(tidy)]) as mind:
        await mind.handle(spoken("count to three"))
        await mind.handle_next()
        assert await mind.state_of(own) == "completed"
    for request in model.requests:
        wire_form(request)
    assert model.requests[1][3].content.startswith("unknown: the machine stopped")


@pytest.mark.shows("A24", "A6")
async def test_what_was_said_before_a_suspension_is_not_told_as_cut_off_by_a_crash(tmp_path: Path) -> None:
    event = spoken("count to three")
    later = ("suspend_event", '{"note": "three to go", "wake_on": "asr_transcript"}')
    model = ScriptedModel(calls(COUNT, later, prefix="a"), calls(COUNT, prefix="b"), calls(COUNT, DONE, prefix="c"))
    async with a_mind(tmp_path, [model]) as mind:
        await mind.mailbox.enqueue(event)
        await mind.mailbox.take()
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle_next()
        await mind.committed(event, *mind.outlet.said)
        await mind.handle(spoken("hello"))
        await mind.handle_next()
        assert await mind.state_of(event) == "completed"
        assert mind.outlet.said[-3:] == ["Number one is here.", "Number two is here.", "Number three is here."]
    assert len(mind.outlet.said) == 9
    assert model.requests[2][-1].role == "user"


@pytest.mark.shows("D1")
async def test_the_context_read_back_from_the_journal_is_the_same(tmp_path: Path) -> None:
    model = ScriptedModel(calls(COUNT, prefix="a"), calls(COUNT, prefix="b"))
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(spoken("first"))
        wanted = Prefix("You are nakari.", mind.mind.registry.specs_for(""), "scripted")
        digest = (await mind.mind.contexts.current(spoken("x"), "", wanted)).digest
    async with a_mind(tmp_path, [model]) as mind:
        epoch = await mind.mind.contexts.current(spoken("x"), "", wanted)
        assert epoch.digest == digest
        await mind.handle(spoken("second"))
    assert model.requests[1][: len(model.requests[0])] == model.requests[0]


@pytest.mark.shows("B1")
@pytest.mark.parametrize(
    "step_refused",
    ["runs.new", "context.epoch", "context.message", "llm.requests", "llm.results", "tools.requests", "tools.results"],
)
async def test_a_full_disk_at_any_step_costs_a_try_and_nothing_else(tmp_path: Path, step_refused: str) -> None:
    event = spoken("count to three")
    model = ScriptedModel(calls(COUNT, DONE), calls(COUNT, DONE, prefix="again"))
    async with a_mind(tmp_path, [model]) as mind:
        await mind.mailbox.enqueue(event)
        hand = await mind.mailbox.take()
        mind.disk.full_at = step_refused
        with pytest.raises(StateUnusable):
            await mind.loop.handle(hand)
        told = mind.outlet.said[0].startswith("I heard you, but I cannot write it down")
        counted = mind.outlet.said[2 * told :]
        assert told is not bool(counted), "what was not answered yet is told to be heard, and nothing else is"
        del mind.outlet.said[: 2 * told]
        for sentence in counted:
            await mind.committed(event, sentence)
        await mind.handle_next()
        assert await mind.state_of(event) == "completed"
        assert mind.outlet.said == ["Number one is here.", "Number two is here.", "Number three is here."]
        users = [message for message in mind.loop_epoch.messages if message.role == "user"]
    assert len(users) == 1


async def test_a_person_is_told_of_an_event_that_was_given_up(tmp_path: Path) -> None:
    event = spoken("crash")
    async with a_mind(tmp_path, [ScriptedModel()]) as mind:
        await mind.mailbox.enqueue(event)
    for _ in range(MAX_ATTEMPTS):
        async with a_mind(tmp_path, [ScriptedModel()]) as mind:
            if await mind.state_of(event) == "pending":
                await mind.mailbox.take()
    async with a_mind(tmp_path, [ScriptedModel()], start=Start(recovers=False)) as mind, asyncio.timeout(120):
        async with asyncio.TaskGroup() as group:
            loop = group.create_task(mind.loop.run())
            await mind.mailbox.until_idle()
            loop.cancel()
        assert await mind.state_of(event) == "dead"
        assert mind.outlet.said[0].startswith("Something went wrong")


GREEDY = "CREATE TRIGGER greedy BEFORE UPDATE ON mailbox BEGIN INSERT INTO filler VALUES (zeroblob(100000)); END"
"""Makes a step of the mailbox need room, as a large one does by itself."""


@pytest.mark.shows("A24", "B1")
async def test_what_was_in_hand_at_a_crash_waits_for_a_disk_that_is_full_at_the_start(tmp_path: Path) -> None:
    event = spoken("How are you?")
    async with a_mind(tmp_path, [ScriptedModel()]) as mind:
        await mind.mailbox.enqueue(event)
        await mind.mailbox.take()
    async with (
        a_mind(tmp_path, [ScriptedModel(calls(DONE))], start=Start(limits=AT_ONCE, recovers=False)) as mind,
        asyncio.timeout(120),
    ):
        database = mind.journal.database
        await database.write(lambda connection: connection.execute("CREATE TABLE filler (bytes)"))
        await database.write(lambda connection: connection.execute(GREEDY))
        await room_for(database, 0)
        with capture_logs() as logs:
            async with asyncio.TaskGroup() as group:
                loop = group.create_task(mind.loop.run())
                while not [line for line in logs if line["event"] == "state_unusable"]:
                    await database.read(lambda connection: None)
                await room_for(database, 10_000)
                await mind.mailbox.until_idle()
                loop.cancel()
        assert await mind.state_of(event) == "completed"


def test_of_sentences_that_were_erased_nothing_is_known() -> None:
    told = [Stored(SENTENCE_STARTED, {"words": "One."}), Stored(SENTENCE_STARTED, {"erased": "5e884898"})]
    assert said_since(told, "event", "") == ("One.",)
