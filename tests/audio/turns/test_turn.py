"""The background's level beside a turn: what lies between words, and not the words."""

import numpy as np
import pytest

from audio.pcm import CHUNK_SAMPLES, QUIETEST_DBFS, AudioChunk
from audio.turns.turn import Turn

CHUNK = AudioChunk(np.zeros(CHUNK_SAMPLES, np.int16), 0.0)


def after(*levels: float) -> float:
    """Return the background's level after chunks of these levels (dBFS), whoever made them."""
    turn = Turn()
    for level in levels:
        turn.take(CHUNK, level, is_kept=False)
    return turn.noise_dbfs


SPEECH = (-30.0,) * 5 + (-57.0,)
"""A word and the gap behind it."""


@pytest.mark.shows("V12")
def test_words_that_nobody_took_for_speech_do_not_teach_it() -> None:
    assert after(*[-60.0] * 60, *SPEECH * 10) == -60.0
    assert after(*SPEECH * 40) == -57.0, "nor does speech that fills all of the time"


def test_another_background_is_learnt_in_seconds() -> None:
    assert after(*[-60.0] * 125, *[-40.0] * 125) == -40.0
    assert after(*[-40.0] * 125, *[-60.0] * 20) == -60.0


def test_silence_that_no_room_makes_is_none() -> None:
    assert after(*[-60.0] * 60, *[QUIETEST_DBFS] * 60) == -60.0
    assert after() == QUIETEST_DBFS
