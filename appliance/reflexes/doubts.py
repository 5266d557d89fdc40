"""What speaks for and against a reflex word: its own voice, to whom it was said, how surely it was heard."""

import re
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from appliance.reflexes.verbs import Verbs
from audio.reflexes.addressing import NOT_ADDRESSED, Addressing
from audio.reflexes.words import plain
from audio.speech import RecognizedTurn
from audio.turns.evidence import LITTLE_ECHO, evidence_guard

SUSPICIOUS: Final = 0.5
"""Likelihood of echo from which on a word is taken for its own."""

ECHO: Final = "echo"
OWN_WORDS: Final = "its own words"

LEAST_LOGPROB: Final = -1.0
MOST_NO_SPEECH: Final = 0.6
"""Upstream's two thresholds of Whisper, which decide together what was speech; here either makes words unsure."""

ANSWERED_WITHIN: Final = 12.0
"""Seconds after an order was asked back in which the next words are for it: the sentence takes 2 to 3 of them."""

LINGERS_SECONDS: Final = 0.6
"""After the end of a sentence in which its last word may still be under way: the room, and the soft end."""


class Doubts(Struct):
    """Asked before a word acts: an `appliance.reflexes.reflexes.OrderEvidence`."""

    body: Verbs
    addressing: Addressing
    suspicion: Callable[[float, float], float]
    """The echo guard's."""
    sounded_until: Callable[[], float]
    """Seconds on the source's clock at which the loudspeaker falls, or fell, silent; minus infinity where the room of
    the loudspeaker is not the microphone's."""
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

    def is_over_own_voice(self, started_at: float) -> bool:
        """Whether anything of its own sounded since words began, or lingered in the room: a reply, a ring, a sign."""
        return started_at < self.sounded_until() + LINGERS_SECONDS

    def is_speech(self, heard: RecognizedTurn) -> bool:
        """Whether the turn so far is no noise by the evidence that a whole turn is judged by."""
        return not evidence_guard(heard)

    def is_called(self, heard: RecognizedTurn) -> bool:
        """Whether its name or the wake word is in the turn."""
        return self.addressing.is_called(heard)

    def is_clear(self, heard: RecognizedTurn) -> bool:
        """Whether a whole turn was surely heard: where nothing of its own sounded, and neither guessed nor chosen.

        A recognizer that chooses among commands finds one in any syllable (measured with the small one, four voices in
        quiet: "new" was "mute" to it four times in four, by up to 6.8 nats a frame; "view" and "muse" five in eight).
        """
        utterance, transcript = heard.utterance, heard.transcript
        told = transcript.evidence
        is_heard = transcript.confidence == "normal" and "command_margin" not in told
        is_likely = told.get("avg_logprob", 0.0) >= LEAST_LOGPROB and told.get("no_speech_prob", 0.0) <= MOST_NO_SPEECH
        is_alone = utterance.echo_suspicion <= LITTLE_ECHO and not self.is_over_own_voice(utterance.started_at)
        return is_heard and is_likely and is_alone

    def await_answer(self, now: float) -> None:
        """Take what is said next for its own: it asks for an order to be said again."""
        self.addressing.await_answer(now + ANSWERED_WITHIN)

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
