"""What the voice detector makes of the residual echo, as stories of chunks."""

import pytest

from audio.echo.meter import (
    DOUBT_SECONDS,
    PERSON_SECONDS,
    PROOF_SECONDS,
    SpeechInResidue,
)
from audio.pcm import CHUNK_SECONDS


def speak(residue: SpeechInResidue, seconds: float, probability: float = 0.01, *, is_another: bool = False) -> None:
    """Have nakari's voice sound for so long; the detector says this of what is left."""
    for _ in range(round(seconds / CHUNK_SECONDS)):
        residue.note(probability, sounds=True, is_another=is_another)


def proven() -> SpeechInResidue:
    """Nothing of its voice was ever taken for speech."""
    residue = SpeechInResidue()
    speak(residue, PROOF_SECONDS + 2 * PERSON_SECONDS)
    return residue


@pytest.mark.shows("V4")
def test_it_is_doubtful_until_five_seconds_of_its_voice_were_nobody() -> None:
    residue = SpeechInResidue()
    assert (residue.is_doubtful, residue.share) == (True, None)
    speak(residue, PROOF_SECONDS - 1.0)
    assert (residue.is_doubtful, residue.share) == (True, None)


@pytest.mark.shows("V4")
def test_then_it_is_believed_at_once() -> None:
    assert not proven().is_doubtful
    assert proven().share == 0.0


@pytest.mark.shows("V4")
def test_one_chunk_of_its_voice_that_sounds_like_speech_is_remembered_for_a_minute() -> None:
    residue = proven()
    speak(residue, CHUNK_SECONDS, 0.9)
    speak(residue, 2 * PERSON_SECONDS)
    assert [float(residue.is_doubtful), residue.share] == pytest.approx([1.0, 0.005], abs=0.002)
    speak(residue, DOUBT_SECONDS)
    assert (residue.is_doubtful, residue.share) == (False, 0.0)


@pytest.mark.shows("V4", "V17")
def test_what_turns_out_to_be_somebody_s_is_not_its_own() -> None:
    residue = proven()
    speak(residue, PERSON_SECONDS / 2, 0.9)
    speak(residue, CHUNK_SECONDS, 0.9, is_another=True)
    assert not residue.is_doubtful
    speak(residue, PERSON_SECONDS / 2, 0.9)
    speak(residue, 3 * PERSON_SECONDS)
    assert residue.share == 0.0
    assert not residue.is_doubtful


def test_what_is_said_while_it_is_silent_is_not_its_own() -> None:
    residue = proven()
    for _ in range(100):
        residue.note(0.9, sounds=False, is_another=False)
    assert residue.share == 0.0
    assert not residue.is_doubtful


@pytest.mark.shows("V17")
def test_who_stands_out_is_believed_at_once_however_new_the_room_is() -> None:
    residue = SpeechInResidue()
    speak(residue, CHUNK_SECONDS, 0.9, is_another=True)
    assert not residue.is_doubtful
