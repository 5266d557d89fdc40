"""A browser's microphone and loudspeaker, in virtual time: everything real but sound card, clock and language model."""

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest

from agent.event import HOUSEHOLD
from agent.replies import INTERRUPTED, SENTENCE_STARTED
from appliance.errors import Problem
from appliance.output.text import WRITTEN
from appliance.remote.outbox import SoundBegins, SoundEnds
from appliance.remote.session import MOST_MICROPHONES, RemoteSession
from audio.pcm import from_float
from audio.recognizer.faster_whisper import FasterWhisperRecognizer
from memory.state.journal import Stored
from tests.appliance.remote.page import Page, session_of, words_in
from tests.audio.spoken import HOUSEHOLD_WHISPER, silence
from tests.room.house import House, Surroundings, live
from tests.room.sounds import cough
from tests.room.voices import spoken

T = TypeVar("T")

QUESTION, ORDER = "Turn on the kitchen light.", "What time is it?"
LONG = "Good morning. Turn off the kitchen light. Cancel the timer. Play some music. What time is it?"
"""A reply of some ten seconds."""


def told(
    folder: Path,
    story: Callable[[House, RemoteSession, Page], Coroutine[Any, Any, T]],
    answers: list[str],
    aside: str = "All right.",
) -> tuple[Page, T]:
    """Let a story happen on a page; return the page, and what the story returns."""
    page = Page()

    async def tell(house: House) -> T:
        session = session_of(house.box, page)
        try:
            result = await story(house, session, page)
        finally:
            session.close()
        await house.silence()
        await house.wait(lambda: not len(house.box.output.remote))
        assert not house.card.played, "the room stays silent"
        return result

    return page, live(folder, tell, Surroundings(answers=answers, aside="", voice="en-us"))


def recognized(page: Page) -> str:
    return words_in(page.played(), FasterWhisperRecognizer(HOUSEHOLD_WHISPER, "en"))


VISITOR = "ab" * 32
"""The key of somebody who is not of the household."""


async def journaled(house: House, topic: str) -> list[Stored]:
    return await house.box.household.replies.sayings.journal.entries(topic=topic)


async def answering(house: House, session: RemoteSession, page: Page) -> None:
    """Ask; return in the middle of the answer."""
    await session.begin("console", "open")
    await page.listens(session, 1.0)
    await page.says(session, spoken(QUESTION, "en-us"))
    while not page.is_playing:
        await page.listens(session, 0.1)
    await page.listens(session, 2.0)


@pytest.mark.shows("V12", "F25")
def test_what_is_said_to_an_open_microphone_is_answered_from_the_page(tmp_path: Path) -> None:
    async def story(house: House, session: RemoteSession, page: Page) -> None:
        await session.begin("console", "open")
        await page.listens(session, 1.0)
        await page.says(session, spoken(QUESTION, "en-us"))
        while not house.box.agent.recalled.is_found(QUESTION, HOUSEHOLD):
            assert not page.heard, "what it brings back is looked up before the turn is over"
            await page.listens(session, 0.05)
        await page.listens(session, 4.0)
        filed = await house.box.household.mailbox.find(page.heard[0].event_id)
        assert filed is not None
        assert (filed.event.type, filed.event.source, filed.event.session_id) == ("asr_transcript", "remote", "console")
        evidence = filed.event.metadata["evidence"]
        assert isinstance(evidence, dict)
        assert evidence["recognizer"] == "faster-whisper:whisper-household"

    page, _ = told(tmp_path, story, ["Good morning."])
    assert [each.text for each in page.heard] == [QUESTION]
    begins = [item for _, item in page.told if isinstance(item, SoundBegins | SoundEnds)]
    assert begins == [SoundBegins(16_000, page.heard[0].event_id), SoundEnds(page.heard[0].event_id, is_cut=False)]
    assert recognized(page) == "Good morning."


def test_a_pressed_button_makes_one_event_of_all_that_is_said_meanwhile(tmp_path: Path) -> None:
    async def story(house: House, session: RemoteSession, page: Page) -> None:
        await session.begin("console", "push_to_talk")
        await page.says(session, np.concatenate([spoken("Play some music.", "en-us"), silence(2.0)]))
        assert not page.heard, "nothing is recognized before the button is let go"
        session.end()
        await house.wait(lambda: page.heard)
        await house.silence()
        await session.begin("console", "push_to_talk")
        await page.listens(session, 1.0)
        session.end()
        await house.wait(lambda: len(page.heard) == 2)

    page, _ = told(tmp_path, story, ["Good morning."])
    assert [(each.text, each.held_back) for each in page.heard] == [("Play some music.", ""), ("", "no words")]


@pytest.mark.shows("V17", "V22")
def test_words_over_a_reply_end_it_and_what_was_not_heard_is_kept(tmp_path: Path) -> None:
    async def story(house: House, session: RemoteSession, page: Page) -> tuple[float, float, list[Stored]]:
        await answering(house, session, page)
        began = house.now
        await page.says(session, spoken(ORDER, "en-us"))
        await page.listens(session, 4.0)
        cut = next(at for at in page.times_of(SoundEnds) if at > began)
        return began, cut, await journaled(house, INTERRUPTED)

    page, (began, cut, entries) = told(tmp_path, story, [LONG, "Good morning."])
    assert cut - began < 0.5, "it falls silent within half a second of the first syllable"
    assert [each.text for each in page.heard] == [QUESTION, ORDER]
    [entry] = entries
    heard, unsaid = str(entry.body["heard"]), str(entry.body["unsaid"])
    assert heard.startswith("Good morning.")
    assert unsaid.endswith("What time is it?")
    assert page.most_ahead <= 1.0


@pytest.mark.shows("V17")
def test_a_cough_over_a_reply_costs_none_of_it(tmp_path: Path) -> None:
    async def story(house: House, session: RemoteSession, page: Page) -> list[Stored]:
        await answering(house, session, page)
        await page.says(session, from_float(cough()))
        await page.listens(session, 12.0)
        return await journaled(house, INTERRUPTED)

    page, entries = told(tmp_path, story, [LONG])
    assert entries == []
    sentences = [f"{each}." for each in LONG.removesuffix("?").split(". ")]
    whole = sum(len(spoken(each, "en-us")) / 16_000 + 0.125 for each in sentences)
    assert abs(len(page.played()) / 16_000 - whole) < 1.0


@pytest.mark.shows("V16")
def test_stop_by_the_page_or_by_word_is_silence_at_once(tmp_path: Path) -> None:
    async def story(house: House, session: RemoteSession, page: Page) -> None:
        await answering(house, session, page)
        session.stop()
        before = len(page.told)
        await page.listens(session, 2.0)
        assert not any(isinstance(item, bytes) for _, item in page.told[before:])

    page, _ = told(tmp_path, story, [LONG])
    ends = [item for _, item in page.told if isinstance(item, SoundEnds)]
    assert [each.is_cut for each in ends] == [True]


@pytest.mark.shows("V22")
def test_a_page_that_is_gone_has_the_rest_in_writing(tmp_path: Path) -> None:
    async def story(house: House, session: RemoteSession, page: Page) -> None:
        await answering(house, session, page)
        page.is_gone = True
        session.close()
        await house.silence()
        filed = await house.box.household.mailbox.find(page.heard[0].event_id)
        assert filed is not None
        assert filed.state == "completed"
        assert await journaled(house, INTERRUPTED) == [], "nobody stopped it"
        [written] = await journaled(house, WRITTEN)
        assert written.body["words"] == LONG
        started = await journaled(house, SENTENCE_STARTED)
        assert 0 < len(started) < 5, "what nobody can hear is not said"

    told(tmp_path, story, [LONG])


def test_a_place_that_speaks_and_the_room_have_their_own_answers(tmp_path: Path) -> None:
    """Somebody asks in the room while a page is open: the answer sounds in the room, and not on the page."""
    page = Page()

    async def story(house: House) -> None:
        session = session_of(house.box, page)
        await session.begin("console", "open")
        await house.ask()
        await house.silence()
        assert house.card.played
        session.close()

    live(tmp_path, story, Surroundings(answers=["Good morning."], voice="en-us"))
    assert not any(isinstance(item, bytes) for _, item in page.told)


@pytest.mark.shows("F25")
def test_another_owner_is_heard_and_answered_as_themselves(tmp_path: Path) -> None:
    page, other = Page(), Page()

    async def story(house: House) -> str:
        session = session_of(house.box, page, VISITOR)
        session_of(house.box, other).listen("console")
        await session.begin("console", "push_to_talk")
        await page.says(session, spoken(QUESTION, "en-us"))
        session.end()
        await house.wait(lambda: page.is_playing)
        await house.silence()
        filed = await house.box.household.mailbox.find(page.heard[0].event_id)
        assert filed is not None
        return filed.event.owner_key

    assert live(tmp_path, story, Surroundings(answers=["Good morning."], voice="en-us")) == VISITOR
    assert recognized(page) == "Good morning."
    assert other.told == [], "nobody else hears any of it"


def test_so_many_microphones_and_no_more(tmp_path: Path) -> None:
    pages = [Page() for _ in range(MOST_MICROPHONES + 1)]

    async def story(house: House) -> None:
        sessions = [session_of(house.box, page) for page in pages]
        for number, session in enumerate(sessions[:-1]):
            await session.begin(f"page {number}", "push_to_talk")
        with pytest.raises(Problem, match="4 microphones are open elsewhere; close one of them first"):
            await sessions[-1].begin("one more", "open")
        sessions[0].end()
        await sessions[-1].begin("one more", "open")
        for session in sessions:
            session.close()

    live(tmp_path, story)
