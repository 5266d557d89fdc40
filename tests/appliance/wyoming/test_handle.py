"""The conversation agent by Wyoming: an event of the household, answered in writing, and in time."""

import asyncio
from typing import Any

import pytest
from wyoming.asr import Transcript

from appliance.api.outcome import Outcome
from appliance.errors import Exit, Problem
from appliance.output.text import below
from appliance.wyoming.handle import MOST_CHARACTERS, room_in, session_of
from memory.errors import StateUnusable
from tests.appliance.wyoming.rig import Rig, ScriptedHousehold, told

pytestmark = pytest.mark.shows("X13")


async def answer(household: ScriptedHousehold, words: str = "why", **context: Any) -> list[tuple[str, Any]]:
    """Return type and text of what a program is told."""
    async with Rig(household=household).open() as rig:
        asked = Transcript(words, context=context or None)
        events = await rig.asks(asked, until="handled-stop" if not household.error else "not-handled")
        return [(each.type, each.data.get("text")) for each in events]


async def test_an_answer_comes_in_pieces_and_whole() -> None:
    household = ScriptedHousehold(["Let me see.\n", "It is ", "three.\n"])
    assert await answer(household, " what time is it ", conversation_id="01ABC") == [
        ("handled-start", None),
        ("handled-chunk", "Let me see."),
        ("handled-chunk", "\nIt is"),
        ("handled-chunk", " three."),
        ("handled", "Let me see.\nIt is three."),
        ("handled-stop", None),
    ]
    assert household.asked == [("what time is it", "wyoming 01ABC", {})]


async def test_where_it_was_said_is_told_if_a_program_tells_it() -> None:
    household = ScriptedHousehold()
    await answer(household, conversation_id="c", area=" Kitchen\n")
    assert household.asked[0][2] == {"room": "Kitchen"}


def test_names_of_conversations_and_rooms_are_short_and_on_one_line() -> None:
    assert session_of({}) == session_of({"conversation_id": 7}) == session_of({"conversation_id": " "}) == "wyoming"
    assert session_of({"conversation_id": "a\nb\0"}) == "wyoming a b"
    long, longer = (session_of({"conversation_id": "a" * size}) for size in (101, 102))
    assert (long != longer, len(long) < 50) == (True, True)
    assert room_in({"area": None, "satellite_area": "厨房"}) == "厨房"


async def test_what_an_answer_rests_on_is_not_read_aloud() -> None:
    sources = below("A page https://example.org/", "It rains.")
    told = await answer(ScriptedHousehold(["It rains.", "\n", sources]))
    assert ("handled", "It rains.") in told


@pytest.mark.parametrize(
    ("status", "words", "said"),
    [
        ("waiting", "why", "No model answers that at the moment: m rejects the API key. The question is kept, and"),
        ("waiting", "为什么", "现在没有模型能回答：m rejects the API key。"),
        ("given_up", "why", "That was given up: m rejects the API key."),
    ],
)
async def test_an_end_without_words_tells_why_where_that_is_known(status: Any, words: str, said: str) -> None:
    reason = "m rejects the API key: correct the key in the configuration"
    async with Rig(household=ScriptedHousehold([Outcome(status, "e1", reason)])).open() as rig:
        event = (await rig.asks(Transcript(words), until="not-handled"))[-1]
        assert event.data["text"].startswith(said)


@pytest.mark.parametrize(
    ("status", "words", "said"),
    [
        ("waiting", "why", ("not-handled", "No model can be reached at the moment.")),
        ("waiting", "为什么", ("not-handled", "现在连不上模型。")),
        ("given_up", "why", ("not-handled", "That was given up.")),
        ("suspended", "why", ("handled", "That is put aside and goes on later.")),
    ],
)
async def test_an_end_without_words_is_told_in_a_sentence(status: Any, words: str, said: tuple[str, str]) -> None:
    household = ScriptedHousehold([Outcome(status, "e1")])
    async with Rig(household=household).open() as rig:
        event = (await rig.asks(Transcript(words), until=said[0]))[-1]
        assert event.data["text"].startswith(said[1])


async def test_an_answer_that_was_given_is_not_taken_back_by_its_outcome() -> None:
    assert ("handled", "I will.") in await answer(ScriptedHousehold(["I will.", Outcome("suspended", "e1")]))


async def test_nothing_answered_is_told() -> None:
    async with Rig(household=ScriptedHousehold([])).open() as rig:
        event = (await rig.asks(Transcript("hm"), until="not-handled"))[-1]
        assert event.data["text"] == "There is no answer to that."


async def test_what_takes_longer_than_a_program_waits_is_told_and_goes_on() -> None:
    household = ScriptedHousehold(["Let me see.", " Three."], hold=asyncio.Event())
    async with Rig(household=household, answer_within=0.05).open() as rig:
        events = await rig.asks(Transcript("what time is it"), until="handled-stop")
        late = "That takes longer. It goes on, and the answer will be in the history."
        assert [(each.type, each.data.get("text")) for each in events[1:]] == [
            ("handled-chunk", "Let me see."),
            ("handled-chunk", f" {late}"),
            ("handled", f"Let me see. {late}"),
            ("handled-stop", None),
        ]
        assert household.closed.is_set(), "nobody listens any more"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (Problem("too many visitors ask at the moment", Exit.UNAVAILABLE), "too many visitors ask at the moment"),
        (StateUnusable("the disk is full"), "the disk is full"),
        (ZeroDivisionError("inside"), "something went wrong inside; the log says what"),
    ],
)
async def test_what_goes_wrong_is_told_in_a_sentence_without_a_trace(error: Exception, said: str) -> None:
    async with Rig(household=ScriptedHousehold(error=error)).open() as rig:
        event = (await rig.asks(Transcript("why"), until="not-handled"))[-1]
        assert event.data["text"] == said


@pytest.mark.parametrize("words", ["", "  ", "a" * (MOST_CHARACTERS + 1)])
async def test_no_words_and_too_many_reach_nobody(words: str) -> None:
    household = ScriptedHousehold()
    async with Rig(household=household).open() as rig:
        assert (await rig.asks(Transcript(words), until="not-handled"))[-1].type == "not-handled"
    assert household.asked == []


async def test_a_program_that_leaves_is_not_waited_for_and_what_it_asked_goes_on() -> None:
    household = ScriptedHousehold(hold=asyncio.Event())
    async with Rig(household=household).open() as rig:
        async with rig.client() as client:
            await client.write_event(Transcript("what time is it").event())
            await household.begun.wait()
        await household.closed.wait()
        await rig.until_alone()


async def test_what_is_asked_together_is_answered_in_order() -> None:
    household = ScriptedHousehold()
    async with Rig(household=household).open() as rig, rig.client() as client:
        for words in ("one", "two"):
            await client.write_event(Transcript(words).event())
        for _ in range(2):
            assert (await told(client, "handled-stop"))[-1].type == "handled-stop"
    assert [words for words, *_ in household.asked] == ["one", "two"]
