"""A television talks in the room and nobody to it: real speech, of which it takes up nothing with the wake word."""

from collections import Counter
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest

from appliance.input.event import evidence_of
from audio.capture.recording import read_recording
from audio.pcm import SAMPLE_RATE
from memory.json_value import Json
from tests.audio.spoken import SHARED_CLIPS, debian_clips
from tests.figures import figure
from tests.room.acoustics import Sound, from_samples, impulse_response
from tests.room.house import House, Surroundings, live
from tests.room.virtual_time import passed
from tests.room.voices import says

pytestmark = pytest.mark.room

LEVEL = -36.0
"""dBFS at the microphone; who speaks to it comes in at -30."""

FURTHER = (
    "silero-vad__test.wav",
    "whisper__jfk.flac",
    "RealtimeSTT__LJ001-0004.wav",
    "rhino__test_within_context.wav",
    "RealtimeSTT__LJ001-0002.wav",
)
"""Clips of human speakers, where the project is developed: a long conversation, a speech, read books, an order."""

WAKE_WORD = "okay_nabu"


def programme(*, whole: bool) -> Sound:
    """Return human speakers one after the other, as a loudspeaker across the room sounds; `whole` takes minutes."""
    clips = [clip.samples for clip in debian_clips("librivox")]
    if SHARED_CLIPS.is_dir():
        clips += [read_recording(SHARED_CLIPS / "clips" / name) for name in (FURTHER if whole else FURTHER[1:4])]
    pause = np.zeros(SAMPLE_RATE // 2, np.int16)
    dry = from_samples(np.concatenate([part for each in clips for part in (each, pause)]))
    return np.convolve(dry, impulse_response(0.3, 11, 0.0))[: len(dry)].astype(np.float32)


Turn: TypeAlias = tuple[str, dict[str, Json], str]
"""Its words, its evidence as the mind gets it, and why nobody got it ("" when the mind did)."""


def watched(folder: Path, settings: dict[str, dict[str, object]], sound: Sound) -> list[Turn]:
    """Return the turns with words that the television made."""

    async def watch(house: House) -> list[Turn]:
        ends = house.put(sound, LEVEL, after=1.0)
        await passed(ends - house.now + 3.0)
        turns = [(heard, why) for _, heard, why in house.turns.ended if heard is not None]
        return [(heard.transcript.text, evidence_of(heard), why) for heard, why in turns]

    return live(folder, watch, Surroundings(settings=settings, answers=("All right.",)))


def told(turns: list[Turn]) -> str:
    reasons = Counter(why or "TAKEN UP" for *_, why in turns)
    return ", ".join(f"{count} {why}" for why, count in reasons.most_common())


@pytest.mark.shows("V15", "V11")
def test_with_the_wake_word_nothing_of_it_is_taken_up(tmp_path: Path, every_step: bool) -> None:
    pytest.importorskip("pymicro_wakeword")
    sound = programme(whole=every_step)
    turns = watched(tmp_path, {"ears": {"wake_word": WAKE_WORD}}, sound)
    minutes = len(sound) / SAMPLE_RATE / 60
    figure(f"a television for {minutes:.1f} minutes, with the wake word", told(turns))
    assert len(turns) >= 3
    assert [words for words, _, why in turns if not why] == []


@pytest.mark.shows("V15", "V12")
def test_without_it_what_is_taken_up_comes_with_its_evidence(tmp_path: Path, every_step: bool) -> None:
    turns = watched(tmp_path, {"ears": {"wake_word": ""}}, programme(whole=every_step))
    taken = [(words, evidence) for words, evidence, why in turns if not why]
    figure("a television, without a wake word", told(turns))
    for words, evidence in taken:
        above = f"{evidence['snr_db']} dB above the background, log-probability {evidence['avg_logprob']}"
        figure(f"  of the television was taken up {words!r}", above)
    assert len(turns) >= 3
    assert all(
        {"snr_db", "speech_seconds", "avg_logprob", "no_speech_prob"} <= evidence.keys() for _, evidence, _ in turns
    )


@pytest.mark.shows("V15")
def test_its_own_person_is_heard_through_the_wake_word(tmp_path: Path) -> None:
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
