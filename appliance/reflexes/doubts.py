"""When a reflex word was nobody's order: left over of its own voice, or said to somebody else."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from appliance.reflexes.verbs import Verbs
from audio.reflexes.addressing import NOT_ADDRESSED, Addressing
from audio.reflexes.words import plain

SUSPICIOUS: Final = 0.5
"""Likelihood of echo from which on a word is taken for its own."""

ECHO: Final = "echo"
OWN_WORDS: Final = "its own words"

LINGERS_SECONDS: Final = 0.6
"""After the end of a sentence in which its last word may still be under way: the room, and the soft end."""


@dataclass(slots=True)
class Doubts:
    """Asked before a word acts (`appliance.reflexes.reflexes.Doubt`)."""

    body: Verbs
    addressing: Addressing
    suspicion: Callable[[float, float], float]
    """The echo guard's."""
    _said: str = ""
    """The newest sentence of its own."""
    _said_until: float = float("-inf")
    """Seconds on the source's clock."""

    def __call__(self, words: str, started_at: float, ended_at: float) -> str:
        """Return why the words were no order, "" where they may be."""
        if self.suspicion(started_at, ended_at) > SUSPICIOUS:
            return ECHO
        if self._is_saying(words, ended_at):
            return OWN_WORDS
        if not self.body.is_sounding and not self.addressing.is_open(started_at, ended_at):
            return NOT_ADDRESSED
        return ""

    def _is_saying(self, words: str, ended_at: float) -> bool:
        """Whether the sentence it says, or has just said, holds these words."""
        if (current := self.body.mouth.current) is not None and not self.body.mouth.is_paused:
            self._said, self._said_until = current.text, ended_at
        if self._said_until < ended_at - LINGERS_SECONDS:
            return False
        return holds(self._said, plain(words))


def holds(sentence: str, words: str) -> bool:
    """Whether the words stand in the sentence; Chinese has no spaces that would end one."""
    spaced = re.sub(r"[\W_]+", " ", sentence.casefold())
    return f" {words} " in f" {spaced} " if words.isascii() else words in spaced
