"""From a heard turn to an event in the mailbox, whatever the disk does."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic

import numpy as np
import pytest

from agent.event import Event
from agent.mailbox import Mailbox
from appliance.hearing.event import event_of
from appliance.hearing.intake import RETRY_SECONDS, Intake
from audio.listener import REFLEX
from audio.speech import Heard, Transcript, Utterance
from memory.errors import StateUnusable


def heard(text: str = "what time is it", began_ago: float = 3.0, level_dbfs: float = -20.0) -> Heard:
    started = monotonic() - began_ago
    utterance = Utterance(np.zeros(16_000, np.int16), started, started + 1, started + 1.7, 0.9, level_dbfs, -50.5, 0.25)
    transcript = Transcript(text, "en", "pocketsphinx", "low", {"command_margin": 0.12345})
    return Heard(utterance, transcript, started + 1.9)


@pytest.mark.shows("A8", "D8", "V12")
def test_a_turn_becomes_an_event_with_its_evidence_and_the_moment_speech_began() -> None:
    event = event_of(heard(), 7)
    assert (event.type, event.content, event.source, event.priority) == ("asr_transcript", "what time is it", "mic", 10)
    assert event.max_tool_calls == 7
    assert abs(datetime.now(UTC) - timedelta(seconds=3) - event.created_at) < timedelta(seconds=0.5)
    assert event.metadata["evidence"] == {
        "confidence": "low",
        "language": "en",
        "recognizer": "pocketsphinx",
        "seconds": 1.0,
        "speech_seconds": 0.9,
        "level_dbfs": -20.0,
        "noise_dbfs": -50.5,
        "snr_db": 30.5,
        "echo_suspicion": 0.25,
        "chars_per_second": 16.7,
        "command_margin": 0.123,
    }
    timing = event.metadata["timing"]
    assert isinstance(timing, dict)
    assert list(timing) == ["speech_started", "speech_ended", "committed", "text"]


class FullDisk(Mailbox):
    """A mailbox whose disk is full for the first tries."""

    def __init__(self, tries: int) -> None:
        self.left = tries
        self.filed: list[Event] = []

    async def enqueue(self, event: Event) -> bool:
        self.left -= 1
        if self.left >= 0:
            raise StateUnusable("the disk is full")
        self.filed.append(event)
        return True


async def test_heard_words_wait_for_a_full_disk_and_are_filed_once(tmp_path: Path) -> None:
    mailbox = FullDisk(2)
    intake = Intake(mailbox, 10, pause=0.0)
    async with asyncio.timeout(5):
        await intake.accept(heard())
    assert [event.content for event in mailbox.filed] == ["what time is it"]
    assert RETRY_SECONDS > 0


async def test_words_that_a_reflex_took_reach_nobody_else() -> None:
    mailbox, asked = FullDisk(0), []

    async def only_stop(words: Heard) -> bool:
        asked.append(words.transcript.text)
        return words.transcript.text == "stop"

    intake = Intake(mailbox, 10, reflexes=(only_stop,), pause=0.0)
    assert [await intake.admit(heard(words)) for words in ("stop", "what time is it")] == [REFLEX, ""]
    assert asked == ["stop", "what time is it"]
    assert mailbox.filed == []


async def test_the_first_guard_that_objects_says_why_and_no_reflex_hears_it() -> None:
    asked: list[str] = []

    async def never(words: Heard) -> bool:
        asked.append(words.transcript.text)
        return False

    guards = (lambda h: "too quiet" if h.transcript.text == "hm" else "", lambda h: "echo")
    intake = Intake(FullDisk(0), 10, guards, (never,))
    assert [await intake.admit(heard(words)) for words in ("hm", "hello")] == ["too quiet", "echo"]
    assert asked == []


@pytest.mark.shows("V7")
async def test_words_right_after_a_commit_continue_the_event_before() -> None:
    mailbox = FullDisk(0)
    intake = Intake(mailbox, 10)
    # A turn lasts 1.7 s to its commit: the second begins 0.3 s after that of the first, the third 3.3 s after.
    for words, ago in (("turn on the", 20.0), ("kitchen light", 18.0), ("thank you", 13.0)):
        await intake.accept(heard(words, ago))
    first, second, third = mailbox.filed
    assert "continues" not in first.metadata
    assert second.metadata["continues"] == first.id
    assert "continues" not in third.metadata


@pytest.mark.shows("V7")
async def test_a_television_that_was_drowned_does_not_continue_what_somebody_said() -> None:
    mailbox = FullDisk(0)
    intake = Intake(mailbox, 10)
    await intake.accept(heard("turn on the kitchen light", 20.0))
    await intake.accept(heard("and now the weather", 18.0, level_dbfs=-32.0))
    assert "continues" not in mailbox.filed[1].metadata
