"""A television talks in the room and nobody to her: real speech, of which she takes up nothing with the wake word."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from audio.pcm import SAMPLE_RATE
from audio.recording import read_recording
from tests.audio.spoken import SHARED_CLIPS, debian_clips
from tests.figures import figure
from tests.room.acoustics import Sound, from_samples, impulse_response
from tests.room.house import House, Surroundings, live
from tests.room.virtual_time import passed
from tests.room.voices import says

pytestmark = [pytest.mark.room, pytest.mark.timeout(300)]

LEVEL = -36.0
"""dBFS at the microphone; who speaks to her comes in at -30."""

FURTHER = (
    "silero-vad__test.wav",
    "whisper__jfk.flac",
    "RealtimeSTT__LJ001-0004.wav",
    "rhino__test_within_context.wav",
    "RealtimeSTT__LJ001-0002.wav",
)
"""Clips of human speakers, where the project is developed: a long conversation, a speech, read books, an order."""

WAKE_WORD = "okay_nabu"


def programme() -> Sound:
    """Return what the television says: human speakers one after the other, as a loudspeaker across the room sounds."""
    clips = [clip.samples for clip in debian_clips("librivox")]
    if SHARED_CLIPS.is_dir():
        clips += [read_recording(SHARED_CLIPS / "clips" / name) for name in FURTHER]
    pause = np.zeros(SAMPLE_RATE // 2, np.int16)
    dry = from_samples(np.concatenate([part for each in clips for part in (each, pause)]))
    return np.convolve(dry, impulse_response(0.3, 11, 0.0))[: len(dry)].astype(np.float32)


def watched(folder: Path, settings: dict[str, dict[str, object]]) -> list[tuple[str, str, str]]:
    """Return of each turn its words, its evidence, and why nobody got it ("" when the mind did)."""

    async def watch(house: House) -> list[tuple[str, str, str]]:
        ends = house.put(programme(), LEVEL, after=1.0)
        await passed(ends - house.now + 3.0)
        return [
            (
                heard.transcript.text,
                f"{heard.utterance.level_dbfs - heard.utterance.noise_dbfs:.0f} dB above the background, "
                f"log-probability {heard.transcript.evidence.get('avg_logprob', float('nan')):.2f}",
                why,
            )
            for _, heard, why in house.turns.ended
            if heard is not None
        ]

    return live(folder, watch, Surroundings(settings=settings, answers=("All right.",)))


def told(turns: list[tuple[str, str, str]]) -> str:
    reasons = Counter(why or "TAKEN UP" for *_, why in turns)
    return ", ".join(f"{count} {why}" for why, count in reasons.most_common())


@pytest.mark.shows("V15", "V11")
def test_with_the_wake_word_nothing_of_it_is_taken_up(tmp_path: Path) -> None:
    pytest.importorskip("pymicro_wakeword")
    turns = watched(tmp_path, {"ears": {"wake_word": WAKE_WORD}})
    minutes = len(programme()) / SAMPLE_RATE / 60
    figure(f"a television for {minutes:.1f} minutes, with the wake word", told(turns))
    assert len(turns) >= 5
    assert [words for words, _, why in turns if not why] == []


@pytest.mark.shows("V15", "V12")
def test_without_it_what_is_taken_up_comes_with_its_evidence(tmp_path: Path) -> None:
    turns = watched(tmp_path, {"ears": {"wake_word": ""}})
    taken = [(words, evidence) for words, evidence, why in turns if not why]
    figure("a television, without a wake word", told(turns))
    for words, evidence in taken:
        figure(f"  of the television was taken up {words!r}", evidence)
    assert len(turns) >= 5
    assert all(evidence for _, evidence in taken)


@pytest.mark.shows("V15")
def test_her_own_person_is_heard_through_the_wake_word(tmp_path: Path) -> None:
    pytest.importorskip("pymicro_wakeword")

    async def ask(house: House) -> list[str]:
        await passed(2.0)
        house.put(says("Okay Nabu.", "slt"), -26.0)
        await passed(3.0)
        ends = house.put(says("What time is it?"), -30.0)
        await passed(ends - house.now + 4.0)
        return house.turns.taken_up

    heard = live(tmp_path, ask, Surroundings(settings={"ears": {"wake_word": WAKE_WORD}}))
    assert heard == ["What time is it?"]
