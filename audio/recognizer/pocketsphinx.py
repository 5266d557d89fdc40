"""pocketsphinx with the English model of its wheel, the last resort: good at commands, bad at free speech.

An utterance is decoded with the command grammar, as a mere string of phones, and with the wheel's language model. A
grammar finds a command in any sound, and the language model English words in any language. Both are weighed against the
phones: a command is believed by its evidence and by how far the language model heard the same, and of free speech it is
said how likely it was understood.
"""

import math
from collections.abc import Sequence
from types import NoneType
from typing import Final

from audio.recognizer.apart import Apart
from audio.recognizer.keyword_decoder import FRAMES_A_SECOND, Grammar, Heard
from audio.speech import Transcript, Utterance

WHOLE_NATS: Final = 400.0
"""Nats by which the grammar has to beat the string of phones where the language model heard nothing of the command."""

BELIEVED: Final = 0.9
"""The least sum of the share of `WHOLE_NATS` and of the agreement of both searches, in [0, 1], for a command.

In nats and not in nats a frame: a short word needs more from the other search, a sentence brings its evidence along.
"""

UNDERSTOOD_BY_NATS: Final = 2.3
UNDERSTOOD_BY_LENGTH: Final = 1.4
UNDERSTOOD_AT_ALL: Final = -0.9
"""Of `understanding`: a logistic regression on human clips of ten languages, English and others weighing the same."""

LEAST_WORD_SECONDS: Final = 0.1
"""A shorter mean length of the words says no more."""

MOST_NATS: Final = 3.0
"""A frame, either way."""

MOST_MARGIN: Final = 10.0
"""A frame, either way: where nothing fits it is endless, which is no figure to keep."""

MOST_SECONDS: Final = 4.0
"""Speech for which each second counts; after it the average does not become surer."""

_VOWELS: Final = frozenset("AEIOU")
"""What the phones begin with that are vowels, and no other does."""


class PocketsphinxRecognizer:
    """Commands by a grammar (`normal` confidence), else words by a language model (`low`). English only.

    Evidence: command_margin, in nats a frame; command_agreement with the language model, in [0, 1]; understood, the
    probability that free speech is about what was said, which in another language it is not.
    Both are looked for at the same time, each in a process of its own (docs/decisions/0162).
    """

    name = "pocketsphinx"
    sends_to = ()

    def __init__(self, grammar: Grammar) -> None:
        self._commands, self._speech = Apart("commands", grammar), Apart("speech")

    def warm(self) -> None:
        """Load the models (0.5 s, 190 MB). Raises `RecognitionFailed`."""
        parts = self._commands, self._speech
        for part in parts:
            part.ask()
        for part in parts:
            part.answer(NoneType)

    def transcribe(self, utterance: Utterance) -> Transcript:
        """Return the command, or what the language model heard. Raises `RecognitionFailed`."""
        self._commands.ask(utterance.samples)
        self._speech.ask(utterance.samples)
        command = self._commands.answer(Heard)
        return judged(command, *self._speech.answer(tuple[Heard, Heard]))


def judged(command: Heard, phones: Heard, free: Heard) -> Transcript:
    """Return the command where the other two searches speak for it, else the words of the language model."""
    evidence: dict[str, float] = {}
    name = PocketsphinxRecognizer.name
    if command.text:
        evidence["command_margin"] = _margin(command, phones)
        evidence["command_agreement"] = agreement(command.phones, free.phones)
        if (command.nats - phones.nats) / WHOLE_NATS + evidence["command_agreement"] >= BELIEVED:
            return Transcript(command.text, "en", name, "normal", evidence)
    evidence["understood"] = understanding(free, phones)
    return Transcript(free.text, "en", name, "low", evidence)


def _margin(heard: Heard, phones: Heard) -> float:
    """Return by how many nats a frame of speech a search beats the string of phones."""
    margin = (heard.nats - phones.nats) / max(1, phones.speech_frames)
    return max(-MOST_MARGIN, min(MOST_MARGIN, margin))


def agreement(one: Sequence[str], other: Sequence[str]) -> float:
    """Return in [0, 1] how far two readings of a sound are the same phones (ARPAbet) in the same order.

    Their edit distance over the longer one; a vowel for another, or a consonant for another, is half a mistake.
    """
    row = [float(place) for place in range(len(other) + 1)]
    for phone in one:
        before, row[0] = row[0], row[0] + 1.0
        for place, heard in enumerate(other, 1):
            wrong = 0.0 if phone == heard else 0.5 if (phone[0] in _VOWELS) == (heard[0] in _VOWELS) else 1.0
            before, row[place] = row[place], min(row[place] + 1.0, row[place - 1] + 1.0, before + wrong)
    return 1.0 - row[-1] / max(1, len(one), len(other))


def understanding(free: Heard, phones: Heard) -> float:
    """Return the probability that the language model's words are about what was said.

    In another language the phones explain the sound better, and the words are many and short.
    """
    if not free.words:
        return 0.0
    seconds = min(phones.speech_frames / FRAMES_A_SECOND, MOST_SECONDS)
    by_nats = max(-MOST_NATS, min(MOST_NATS, _margin(free, phones))) * math.sqrt(seconds)
    by_length = math.log(max(LEAST_WORD_SECONDS, free.speech_frames / free.words / FRAMES_A_SECOND))
    return 1.0 / (
        1.0 + math.exp(-(UNDERSTOOD_AT_ALL + UNDERSTOOD_BY_NATS * by_nats + UNDERSTOOD_BY_LENGTH * by_length))
    )
