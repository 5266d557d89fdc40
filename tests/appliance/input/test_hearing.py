"""From a heard turn to an event: its evidence, who may stop it, and what it goes on with."""

from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any

import numpy as np
import pytest

from appliance.input.event import event_of
from appliance.input.intake import Intake, TurnGate
from appliance.input.pending_turns import PendingTurns
from appliance.rooms.arbitration import Undisputed
from audio.playback.speech_output import SpokenSentence
from audio.speech import RecognizedTurn, Transcript, Utterance
from audio.turns.listener import REFLEX
from tests.appliance.full_disk import FullDisk


def heard(text: str = "what time is it", began_ago: float = 3.0, level_dbfs: float = -20.0) -> RecognizedTurn:
    started = monotonic() - began_ago
    utterance = Utterance(
        np.zeros(16_000, np.int16), started, started + 1, started + 1.7, 0.9, level_dbfs, -50.5, 0.25, 0.9
    )
    transcript = Transcript(text, "en", "pocketsphinx", "low", {"command_margin": 0.12345})
    return RecognizedTurn(utterance, transcript, started + 1.9)


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
        "speech_probability": 0.9,
        "score": 0.701,
        "chars_per_second": 16.7,
        "command_margin": 0.123,
    }
    timing = event.metadata["timing"]
    assert isinstance(timing, dict)
    assert list(timing) == ["speech_started", "speech_ended", "committed", "text"]


def intake(mailbox: FullDisk, **settings: Any) -> Intake:
    async def say(sentence: SpokenSentence) -> None:
        raise AssertionError("a disk with room is no matter for words")

    turns = PendingTurns(mailbox, say, "en")
    usual: dict[str, Any] = {"gate": passes, "over_reply": passes, "reflex": ignores, "addressing": unmarked}
    return Intake(turns, 10, **usual | {"contest": Undisputed()} | settings)


def passes(heard: RecognizedTurn) -> str:
    return ""


async def ignores(heard: RecognizedTurn) -> bool:
    return False


def unmarked(heard: RecognizedTurn) -> dict[str, str]:
    return {}


async def test_words_that_a_reflex_took_reach_nobody_else() -> None:
    mailbox, asked = FullDisk(0), []

    async def only_stop(words: RecognizedTurn) -> bool:
        asked.append(words.transcript.text)
        return words.transcript.text == "stop"

    into = intake(mailbox, reflex=only_stop)
    assert [await into.admit(heard(words)) for words in ("stop", "what time is it")] == [REFLEX, ""]
    assert asked == ["stop", "what time is it"]
    assert mailbox.filed == []


async def test_the_first_guard_that_objects_says_why_and_no_reflex_hears_it() -> None:
    asked: list[str] = []

    async def never(words: RecognizedTurn) -> bool:
        asked.append(words.transcript.text)
        return False

    gate = TurnGate(
        passes, lambda h: "too quiet" if h.transcript.text == "hm" else "", lambda h: "echo", passes, passes
    )
    into = intake(FullDisk(0), gate=gate, reflex=never)
    assert [await into.admit(heard(words)) for words in ("hm", "hello")] == ["too quiet", "echo"]
    assert asked == []


@pytest.mark.shows("V7")
async def test_words_right_after_a_commit_continue_the_event_before() -> None:
    mailbox = FullDisk(0)
    into = intake(mailbox)
    # A turn lasts 1.7 s to its commit: the second begins 0.3 s after that of the first, the third 3.3 s after.
    for words, ago in (("turn on the", 20.0), ("kitchen light", 18.0), ("thank you", 13.0)):
        await into.accept(heard(words, ago))
    first, second, third = mailbox.filed
    assert "continues" not in first.metadata
    assert second.metadata["continues"] == first.id
    assert "continues" not in third.metadata


@pytest.mark.shows("V7")
async def test_a_television_that_was_drowned_does_not_continue_what_somebody_said() -> None:
    mailbox = FullDisk(0)
    into = intake(mailbox)
    await into.accept(heard("turn on the kitchen light", 20.0))
    await into.accept(heard("and now the weather", 18.0, level_dbfs=-32.0))
    assert "continues" not in mailbox.filed[1].metadata
