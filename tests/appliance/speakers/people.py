"""People with voices that are figures, and what they say as the ears hand it over."""

from itertools import count

import numpy as np

from agent.event import Event
from appliance.input.event import event_of
from appliance.speakers.speakers import Voices
from audio.speakers.encoder import Vector, unit
from audio.speech import RecognizedTurn, Transcript, Utterance, Voice

_moments = count(1)


def person(seed: int) -> Vector:
    """Return somebody's voice."""
    return unit(np.maximum(0, np.random.default_rng(seed).normal(size=256)))


ANNA, BEN, CARL = person(1), person(2), person(3)


def turn(words: str, vector: Vector | None, seconds: float = 2.0) -> RecognizedTurn:
    """Return a sentence, said a little differently each time."""
    began = float(next(_moments))
    sound = Utterance(np.zeros(16000, np.int16), began, began + seconds, began + seconds + 0.5, seconds, -20.0, -60.0)
    voice = None if vector is None else Voice(unit(vector + 0.2 * person(int(1000 + began))), seconds, 40.0)
    return RecognizedTurn(sound, Transcript(words, "en", "fake", voice=voice), began + seconds + 0.6)


def heard(voices: Voices, words: str, vector: Vector | None = None, seconds: float = 2.0) -> Event:
    """Return the event that a sentence becomes."""
    said = turn(words, vector, seconds)
    voices.look()
    return event_of(said, 10, clock=lambda: said.utterance.started_at, addressing=voices.marks(said))
