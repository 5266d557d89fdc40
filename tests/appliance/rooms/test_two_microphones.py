"""Human clips through the real ears of two rooms: one event of a sentence, whatever words are made of it."""

import numpy as np
import pytest

from appliance.rooms.arbitration import Hearing, is_same, merit_of
from audio.pcm import Samples
from audio.speech import Transcript, Utterance
from audio.turns.sound_print import print_likeness, sound_print
from benchmarks.room.two_rooms import FAR, NEAR, turns_in
from tests.audio.spoken import debian_clips, go_forward


class Mishearing:
    """A recognizer that makes this of anything."""

    name = "mishearing"
    sends_to = ()

    def __init__(self, words: str) -> None:
        self._words = words

    def warm(self) -> None:
        """It is warm."""

    def transcribe(self, utterance: Utterance) -> Transcript:
        return Transcript(self._words, "en", self.name)


async def heard(samples: Samples, words: str, *, far: int | None = None) -> Hearing:
    """Return what a microphone beside somebody hears of them, or one elsewhere."""
    microphone = NEAR if far is None else FAR[far]
    turns = await turns_in(microphone.hears(samples, seed=7), Mishearing(words))
    return Hearing.of(turns[0])


@pytest.mark.shows("V28", "X16")
@pytest.mark.parametrize("far", range(len(FAR)), ids=["through a door", "along a hall"])
async def test_a_clip_that_two_rooms_hear_is_one_event_of_the_nearer_one(far: int) -> None:
    clip = go_forward().samples
    near, there = await heard(clip, "go forward ten meters"), await heard(clip, "so in", far=far)
    assert is_same(near, there), "the words are others, and the sound is the same"
    assert merit_of(near.turn) > merit_of(there.turn)
    assert near.turn.utterance.samples.size == there.turn.utterance.samples.size == 0, "no recording is kept"


@pytest.mark.shows("V28", "X16")
async def test_two_clips_at_the_same_moment_are_two_events() -> None:
    clips = [go_forward(), *debian_clips("cards")][:4]
    near = [await heard(clip.samples, "nothing like it") for clip in clips]
    far = [await heard(clip.samples, "some quiet music", far=0) for clip in clips]
    alike = [[print_likeness(one.sound, other.sound) for other in far] for one in near]
    assert [int(np.argmax(row)) for row in alike] == list(range(len(clips)))
    assert not any(is_same(one, other) for at, one in enumerate(near) for other in (*far[:at], *far[at + 1 :]))


def test_silence_has_no_likeness_to_anything() -> None:
    nothing, noise = np.zeros(0, np.int16), np.random.default_rng(1).integers(-100, 100, 16_000, np.int16)
    assert sound_print(nothing).shape == (0, 8)
    assert print_likeness(sound_print(nothing), sound_print(noise)) == 0.0
    assert print_likeness(sound_print(np.zeros(16_000, np.int16)), sound_print(noise)) == 0.0
    assert print_likeness(sound_print(noise), sound_print(noise)) == pytest.approx(1.0)
