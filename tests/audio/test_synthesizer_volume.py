"""The volume of her voice: a factor for each percent, and words that keep their times."""

import itertools

import pytest

from audio.synthesizer.volume import AtVolume, gain
from tests.audio.mouth_fakes import ScriptedVoice, listen


def test_the_whole_volume_changes_nothing_none_is_silence_and_each_percent_is_louder() -> None:
    assert (gain(0), gain(100), gain(200)) == (0.0, 1.0, 1.0)
    assert all(quieter < louder for quieter, louder in itertools.pairwise(map(gain, range(101))))
    assert gain(90) == pytest.approx(0.631, abs=0.001), "4 dB for ten percent"


async def test_the_sound_is_quieter_and_the_words_stay_where_they_are() -> None:
    voice = ScriptedVoice()
    full, low = await listen(voice.speak("one two", "en")), await listen(AtVolume(voice, 90).speak("one two", "en"))
    assert low.words == full.words
    assert len(low.samples) == len(full.samples)
    assert int(low.samples[0]) == int(full.samples[0] * gain(90))


async def test_a_voice_that_fails_fails_as_it_did() -> None:
    outcome = await listen(AtVolume(ScriptedVoice(failures={-1: 1}), 50).speak("one two", "en"))
    assert len(outcome.pieces) == 1
    assert outcome.failure
