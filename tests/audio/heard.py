"""Turns that were heard, as tests of what comes after the ears need them."""

import numpy as np

from audio.speech import RecognizedTurn, Transcript, Utterance


def heard(text: str, started_at: float, ended_at: float, language: str = "en") -> RecognizedTurn:
    """Words that were spoken from one moment to another, committed and recognized at the second."""
    utterance = Utterance(
        np.zeros(0, np.int16), started_at, ended_at, committed_at=ended_at, speech_seconds=ended_at - started_at
    )
    return RecognizedTurn(utterance, Transcript(text, language, "scripted"), recognized_at=ended_at)
