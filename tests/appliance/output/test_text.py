"""Replies as text: to the client that waits, as they are written; into the journal in any case."""

import asyncio
from dataclasses import dataclass

import pytest

from agent.bus import Bus
from agent.event import Event
from agent.replies import MOST_SOURCES, SOURCES, Delivered, Reply, Source, Sources
from agent.run.run_state import RunState
from appliance.output.text import CLIENT_CAPACITY, WRITTEN, ReplyRouter, TextReplySink, is_text
from tests.fakes import RecordingOutlet

EVENT = Event(type="user_text", content="hello", source="cli")


class Journal:
    def __init__(self) -> None:
        self.kept: list[Event] = []

    async def __call__(self, events: tuple[Event, ...]) -> None:
        self.kept += events


async def test_pieces_reach_the_client_as_they_are_written_and_the_journal_once() -> None:
    journal = Journal()
    outlet = TextReplySink(Bus(journal))
    with outlet.listening(EVENT.id) as pieces:
        delivery = outlet.open(Reply(EVENT, "c1"))
        await delivery.feed("Hel")
        assert await anext(pieces) == "Hel"
        await delivery.feed("lo.")
        await delivery.close()
        await delivery.close()
        outlet.finish(EVENT.id)
        assert [piece async for piece in pieces] == ["lo.", "\n"]
    assert await delivery.ended() == Delivered("Hello.\n", "Hello.\n")
    assert [(event.type, event.content, event.parent_id) for event in journal.kept] == [(WRITTEN, "Hello.", EVENT.id)]


async def test_a_reply_without_words_is_none() -> None:
    outlet, run_state = TextReplySink(Bus(Journal())), RunState()
    with outlet.listening(EVENT.id) as pieces:
        for name, words in (("c1", ""), ("c2", " ")):
            delivery = run_state.deliveries[name] = outlet.open(Reply(EVENT, name))
            await delivery.feed(words)
            await delivery.close()
        outlet.finish(EVENT.id)
        assert "".join([piece async for piece in pieces]).strip(" ") == "", "not even a line"
    assert not run_state.has_words, "whoever asked is told that there is nothing to say"


@pytest.mark.shows("G2")
@pytest.mark.parametrize(
    ("words", "head"), [("Agents that remember.", "Sources:"), ("会记住的智能体。", "来源：")], ids=["en", "zh"]
)
async def test_what_a_reply_rests_on_stands_below_it_once_and_in_the_journal(words: str, head: str) -> None:
    journal, sources = Journal(), Sources()
    sources.found(Source("The Daily", "https://daily.test/a"), Source("", "https://weekly.test/"))
    bus = Bus(journal)
    outlet = TextReplySink(bus)
    with outlet.listening(EVENT.id) as pieces:
        for name in ("c1", "c2"):
            delivery = outlet.open(Reply(EVENT, name, sources=sources))
            await delivery.feed(words)
            await delivery.close()
            assert delivery.handed == f"{words}\n", "they are no part of what was said"
        outlet.finish(EVENT.id)
        read = "".join([piece async for piece in pieces])
    lines = "  The Daily: https://daily.test/a\n  https://weekly.test/\n"
    assert read == f"{words}\n\n{head}\n{lines}{words}\n"
    await bus.publish()
    named = [event for event in journal.kept if event.type == SOURCES]
    assert [(event.parent_id, event.metadata["call_id"], event.metadata["sources"]) for event in named] == [
        (
            EVENT.id,
            "c1",
            [{"title": "The Daily", "url": "https://daily.test/a"}, {"title": "", "url": "https://weekly.test/"}],
        )
    ]


async def test_a_reply_that_broke_off_and_one_without_words_leave_the_sources_to_the_next() -> None:
    journal, sources = Journal(), Sources()
    sources.found(Source("The Daily", "https://daily.test/a"))
    outlet = TextReplySink(Bus(journal))
    broken = outlet.open(Reply(EVENT, "c1", sources=sources))
    await broken.feed("Agents th")
    await broken.cut()
    await outlet.open(Reply(EVENT, "c2", sources=sources)).close()
    assert [source.title for source in sources.take()] == ["The Daily"]


def test_what_was_looked_into_is_named_instead_of_what_was_only_found_and_only_a_few() -> None:
    sources = Sources()
    sources.found(*(Source(str(number), f"https://page.test/{number}") for number in range(9)))
    assert len(sources.take()) == MOST_SOURCES
    sources.read(Source("The Daily", "https://daily.test/a"))
    assert [source.title for source in sources.take()] == ["The Daily"]


async def test_without_a_client_the_journal_has_the_words() -> None:
    journal = Journal()
    delivery = TextReplySink(Bus(journal)).open(Reply(EVENT, "c1"))
    await delivery.feed("Hello.")
    await delivery.close()
    assert [event.content for event in journal.kept] == ["Hello."]


async def test_a_broken_text_shows_where_it_broke() -> None:
    outlet = TextReplySink(Bus(Journal()))
    delivery = outlet.open(Reply(EVENT, "c1"))
    await delivery.feed("Hello, I was abo")
    await delivery.cut()
    await delivery.close()
    assert delivery.handed == "Hello, I was abo …\n"


async def test_a_client_that_does_not_read_holds_nobody_up() -> None:
    outlet = TextReplySink(Bus(Journal()))
    with outlet.listening(EVENT.id) as pieces:
        delivery = outlet.open(Reply(EVENT, "c1"))
        async with asyncio.timeout(120):
            for _ in range(CLIENT_CAPACITY + 10):
                await delivery.feed("x")
            await delivery.close()
            assert len(delivery.handed) == CLIENT_CAPACITY + 11
            outlet.finish(EVENT.id)
            assert len([piece async for piece in pieces]) == CLIENT_CAPACITY - 1, "and it comes to the end"


@dataclass
class Elsewhere:
    """The mouths of remote places: one, at which one event was said."""

    event: Event
    mouth: RecordingOutlet

    def mouth_for(self, event: Event) -> RecordingOutlet | None:
        return self.mouth if event is self.event else None


def test_a_reply_goes_back_to_where_its_event_came_from() -> None:
    voice, text = RecordingOutlet(), RecordingOutlet()
    there = RecordingOutlet()
    said_there = Event(type="x", source="remote", metadata={"place": "a page"})
    router = ReplyRouter(voice=voice, text=text, there=Elsewhere(said_there, there).mouth_for)
    spoken = [Event(type="x", source=source) for source in ("mic", "timer", "self", "system")]
    written = [Event(type="x", source=source) for source in ("cli", "http", "remote")]
    asked_aloud = Event(type="x", source="cli", metadata={"speak": True})
    for event in (*spoken, *written, asked_aloud, said_there):
        router.open(Reply(event, "c"))
    assert [reply.event for reply in there.replies] == [said_there]
    assert [reply.event for reply in voice.replies] == [*spoken, asked_aloud]
    assert [reply.event for reply in text.replies] == [*written, asked_aloud], "who asked aloud in writing reads it too"
    router.open(Reply(written[0], "c-aloud", is_aloud=True))
    assert voice.replies[-1].event == written[0]
    assert len(text.replies) == len(written) + 1, "said too, and not written twice"
    assert not is_text(asked_aloud)
    for event in (written[0], said_there):
        router.open(Reply(event, "c-kitchen", room="kitchen"))
        assert voice.replies[-1].event == event, "what is wanted in a room is said in it, whoever asked, and how"
    assert len(text.replies) == len(written) + 1


async def test_of_an_answer_that_is_said_too_no_unfinished_sentence_is_read() -> None:
    voice, text = RecordingOutlet(), TextReplySink(Bus(Journal()))
    asked_aloud = Event(type="x", source="cli", metadata={"speak": True})
    router = ReplyRouter(voice=voice, text=text, there=Elsewhere(EVENT, voice).mouth_for)
    with text.listening(asked_aloud.id) as pieces:
        for call_id in ("c1", "c2", "c3"):
            broken = router.open(Reply(asked_aloud, call_id))
            await broken.feed("Once there was a ki")
            await broken.cut()
        told = router.open(Reply(asked_aloud, "c4"))
        for piece in ("Once there was a king.\n\n", "- He had **two** dau", "ghters.  The end"):
            await told.feed(piece)
        await told.close()
        text.finish(asked_aloud.id)
        read = "".join([piece async for piece in pieces])
    assert read == "Once there was a king.\n\n- He had **two** daughters.  The end\n"


@pytest.mark.shows("F12")
def test_what_is_another_owner_s_is_never_said_aloud_in_the_household_s_room() -> None:
    theirs = [Event(type="x", owner_key="a" * 64, source=source) for source in ("mic", "timer", "self", "cli")]
    loud = Event(type="x", owner_key="a" * 64, source="cli", metadata={"speak": True})
    assert all(map(is_text, (*theirs, loud)))
