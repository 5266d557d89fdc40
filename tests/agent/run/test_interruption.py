"""Somebody speaks over it: at once nothing goes on, and the next block says what was heard of it."""

import asyncio
from pathlib import Path

import pytest

from agent.context import block
from agent.event import SELF_CREATED, Event
from agent.model.messages import Message
from agent.tools.tool import Effect, tool
from memory.json_value import Json
from tests.agent.mind import TestMind, a_mind, spoken
from tests.fakes import ScriptedModel, calls

COUNT = ("reply", '{"text": "Number one is here. Number two is here. Number three is here."}')
HELLO = ("reply", '{"text": "Hello there."}')
FRESH = calls(HELLO, prefix="fresh")


def seen(message: Message) -> block.Block:
    """Return the block that a user message is."""
    parsed = block.parse(message.content)
    assert parsed is not None
    return parsed


async def interrupted_while_speaking(mind: TestMind, event: Event, heard: str) -> None:
    mind.outlet.playing.clear()
    mind.outlet.hears = heard
    results = aiter(mind.mind.bus.observe("tools.results"))
    async with mind.at_work(event):
        await anext(results)
        assert mind.loop.interrupt(event.id)
    mind.outlet.playing.set()


@pytest.mark.shows("B10", "D6")
@pytest.mark.parametrize(
    ("heard", "unsaid"),
    [
        ("Number one is here. Number", "two is here. Number three is here."),
        ("", "Number one is here. Number two is here. Number three is here."),
    ],
)
async def test_the_next_block_says_what_was_heard_and_what_stayed_unsaid(
    tmp_path: Path, heard: str, unsaid: str
) -> None:
    model = ScriptedModel(calls(COUNT), FRESH, calls(HELLO, prefix="third"))
    first, second = spoken("count to three"), spoken("stop, that is enough")
    async with a_mind(tmp_path, [model]) as mind:
        await interrupted_while_speaking(mind, first, heard)
        assert await mind.state_of(first) == "completed"
        filed = await mind.mailbox.find(first.id)
        assert filed is not None
        assert filed.summary.startswith("interrupted")
        await mind.handle(second)
        await mind.handle(spoken("and now"))
    told = seen(model.requests[1][-1])
    assert told.words == second.content
    assert (told.situation["Interrupted_After"], told.situation["Unsaid"]) == (heard, unsaid)
    assert model.requests[1][: len(model.requests[0])] == model.requests[0], "nothing before it is rewritten"
    assert "Unsaid" not in seen(model.requests[2][-1]).situation, "it is told once"


@pytest.mark.shows("B10", "F5")
async def test_a_stream_that_is_interrupted_stays_as_the_whole_sentences_of_it(tmp_path: Path) -> None:
    model = ScriptedModel(calls(COUNT), FRESH)
    model.hold[0] = asyncio.Event()
    first = spoken("count to three")
    async with a_mind(tmp_path, [model]) as mind:
        mind.outlet.playing.clear()
        mind.outlet.hears = "Number one is"
        async with mind.at_work(first):
            await mind.outlet.sentence_said.wait()
            assert mind.loop.interrupt()
        mind.outlet.playing.set()
        assert await mind.state_of(first) == "completed"
        await mind.handle(spoken("enough"))
    kept, result, words = model.requests[1][-3:]
    assert kept.tool_calls[0].arguments == '{"text": "Number one is here. Number two is here."}'
    assert result.content.startswith("interrupted")
    assert seen(words).situation["Interrupted_After"] == "Number one is"
    assert seen(words).situation["Unsaid"] == "here. Number two is here."


async def test_what_was_heard_is_told_also_after_a_restart(tmp_path: Path) -> None:
    model = ScriptedModel(calls(COUNT), FRESH)
    async with a_mind(tmp_path, [model]) as mind:
        await interrupted_while_speaking(mind, spoken("count to three"), "Number one is here.")
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(spoken("enough"))
    assert seen(model.requests[1][-1]).situation["Unsaid"] == "Number two is here. Number three is here."


@pytest.mark.shows("A24", "B10")
async def test_it_does_not_go_on_after_a_restart_with_what_was_interrupted(tmp_path: Path) -> None:
    first = spoken("count to three")
    async with a_mind(tmp_path, [ScriptedModel(calls(COUNT))]) as mind:
        mind.disk.full_at = "command.result"
        with pytest.raises(ExceptionGroup):
            await interrupted_while_speaking(mind, first, "Number one is here.")
    async with a_mind(tmp_path, [ScriptedModel(FRESH)]) as mind:
        await mind.handle_next()
        assert await mind.state_of(first) == "completed"
        assert mind.outlet.said == []


@pytest.mark.shows("D16")
async def test_words_that_go_on_close_the_event_before_that_made_no_sound(tmp_path: Path) -> None:
    model = ScriptedModel(calls(COUNT), FRESH)
    model.hold[0] = asyncio.Event()
    first = spoken("what is the weather")
    second = spoken("in Berlin tomorrow", metadata={"continues": first.id})
    async with a_mind(tmp_path, [model]) as mind:
        mind.outlet.playing.clear()
        requests = aiter(mind.mind.bus.observe("llm.requests"))
        async with mind.at_work(first):
            await anext(requests)
            await mind.mailbox.enqueue(second)
        mind.outlet.playing.set()
        filed = await mind.mailbox.find(first.id)
        assert filed is not None
        assert (filed.state, filed.reason.split(" ")[0]) == ("withdrawn", "superseded")
        await mind.handle_next()
        assert await mind.state_of(second) == "completed"
    before, after = model.requests[1][-2:]
    assert [seen(before).words, seen(after).words] == [first.content, second.content]
    assert before == model.requests[0][-1], "its block stays as it was"
    assert seen(after).situation["Continues"] == first.id
    assert len(model.requests[1]) == len(model.requests[0]) + 1, "nothing of the first answer is in the context"


async def test_words_that_go_on_bring_along_those_that_still_waited(tmp_path: Path) -> None:
    model = ScriptedModel(FRESH)
    first = spoken("what is the weather")
    second = spoken("in Berlin", metadata={"continues": first.id})
    third = spoken("tomorrow", metadata={"continues": second.id})
    async with a_mind(tmp_path, [model]) as mind:
        for event in (first, second, third):
            await mind.mailbox.enqueue(event)
        while (hand := await mind.mailbox.take()).event.id != third.id:
            await mind.loop.handle(hand)
        await mind.loop.handle(hand)
        assert [await mind.state_of(event) for event in (first, second, third)] == [
            "withdrawn", "withdrawn", "completed",
        ]  # fmt: skip
    assert [seen(message).words for message in model.requests[0][1:]] == [
        "what is the weather",
        "in Berlin",
        "tomorrow",
    ]
    assert len(model.requests) == 1


@pytest.mark.parametrize("effect", [None, "reversible", "irreversible"])
async def test_after_a_sound_or_an_effect_both_are_handled_in_order(tmp_path: Path, effect: Effect | None) -> None:
    done: list[str] = []
    with_sound = effect is None

    async def open_door() -> Json:
        """Open the door."""
        done.append("open")
        return "open"

    answer = calls(COUNT) if with_sound else calls(("open_door", "{}"))
    model = ScriptedModel(answer, *([FRESH] if with_sound else [calls(COUNT, prefix="said"), FRESH]))
    model.hold[0 if with_sound else 1] = asyncio.Event()
    first = spoken("open the door")
    second = spoken("please", metadata={"continues": first.id})
    async with a_mind(tmp_path, [model], [tool(open_door, effect=effect or "pure")]) as mind:
        asked = aiter(mind.mind.bus.observe("llm.requests"))
        async with mind.at_work(first):
            for _ in range(1 if with_sound else 2):
                await anext(asked)
            if with_sound:
                await mind.outlet.sentence_said.wait()
                await mind.committed(first, "Number one is here.")
            await mind.mailbox.enqueue(second)
            await mind.noticed()
            for held in model.hold.values():
                held.set()
        assert await mind.state_of(first) == "completed"
        await mind.handle_next()
        assert await mind.state_of(second) == "completed"
        assert mind.outlet.said[2:] == ["Number three is here.", "Hello there."]
    assert done == ([] if with_sound else ["open"])


async def test_work_that_comes_back_is_not_superseded_by_words_that_go_on(tmp_path: Path) -> None:
    put_aside = calls(("suspend_event", '{"note": "the door is open", "wake_on": "parcel"}'), prefix="aside")
    model = ScriptedModel(put_aside, calls(HELLO), FRESH)
    model.hold[1] = asyncio.Event()
    first = spoken("tell me when the parcel is here")
    second = spoken("please", metadata={"continues": first.id})
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(first)
        await mind.mailbox.wake("parcel")
        async with mind.at_work(first):
            await mind.mailbox.enqueue(second)
            await mind.noticed()
            model.hold[1].set()
        assert await mind.state_of(first) == "completed"
        await mind.handle_next()
        assert mind.outlet.said == ["Hello there.", "Hello there."]


async def test_there_is_nothing_to_interrupt_when_nothing_is_in_hand(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [ScriptedModel(FRESH)]) as mind:
        assert not mind.loop.interrupt()
        async with mind.at_work(spoken("hello")):
            assert not mind.loop.interrupt("another")


async def test_its_own_work_that_is_interrupted_comes_back(tmp_path: Path) -> None:
    model = ScriptedModel(calls(COUNT), FRESH)
    model.hold[0] = asyncio.Event()
    work = Event(type=SELF_CREATED, content="tell them", source="self")
    async with a_mind(tmp_path, [model]) as mind:
        async with mind.at_work(work):
            await mind.outlet.sentence_said.wait()
            assert mind.loop.interrupt()
        filed = await mind.mailbox.find(work.id)
        assert filed is not None
        assert filed.state == "suspended"
        assert "a person spoke" in filed.progress.note
