"""What ears and mouth are at, shown on the bus as it changes; and how loud it is, while somebody looks."""

from collections.abc import Callable
from math import log10

from agent.event import Event
from audio.interfaces import TurnObserver
from audio.pcm import QUIETEST_DBFS, AudioChunk, Samples, power_of
from audio.playback.speech_output import SpeechObserver
from audio.speech import PartialWords, RecognizedTurn, SpeechStarted


class Senses(SpeechObserver, TurnObserver):
    """A `TurnObserver` and a `SpeechObserver` of the room. Shows each change once; nothing of it is journaled."""

    def __init__(self, show: Callable[[Event], None]) -> None:
        self._show = show
        self._open_turns = 0
        """Begun and not ended; a turn may begin before the words of the last one are known."""

    def speech_started(self, started: SpeechStarted) -> None:
        """Take that somebody speaks."""
        self._open_turns += 1
        if self._open_turns == 1:
            self._tell("hearing", is_on=True)

    def read(self, words: PartialWords) -> None:
        """Take what a turn has come to while it is spoken: to be shown, and kept by nobody."""
        told = {"event": "words_so_far", "language": words.language}
        self._show(Event("ui.events", words.text, source="room", metadata=told))

    def turn_ended(self, heard: RecognizedTurn | None, suppressed: str) -> None:
        """Take that a turn is over and its words are known, if it had any."""
        self._open_turns = max(0, self._open_turns - 1)
        if not self._open_turns:
            self._tell("hearing", is_on=False)

    def speaking_changed(self, speaking: bool) -> None:
        """Take that there is something to say, or that all of it has ended."""
        self._tell("speaking", is_on=speaking)

    def _tell(self, what: str, *, is_on: bool) -> None:
        self._show(Event("ui.events", source="room", metadata={"event": what, "is_on": is_on}))


class Meter:
    """How loud it was at its loudest since somebody asked last. Costs a comparison a chunk while it is off."""

    def __init__(self) -> None:
        self._is_on = False
        self._microphone = self._loudspeaker = 0.0
        """Mean squares, of full scale."""

    def __call__(self, chunk: AudioChunk, probability: float, covered: bool) -> None:
        """Take a chunk of the microphone, as a `ChunkWatcher`."""
        if self._is_on:
            self._microphone = max(self._microphone, power_of(chunk.samples))

    def played(self, samples: Samples, sample_rate: int, at: float) -> None:
        """Take what is played, as a `PlaybackTap`: in the sound card's thread."""
        if self._is_on:
            self._loudspeaker = max(self._loudspeaker, power_of(samples))

    def switch(self, *, is_on: bool) -> None:
        """Begin to measure, or end that."""
        self._is_on = is_on
        self._microphone = self._loudspeaker = 0.0

    def take(self) -> tuple[int, int | None]:
        """Return both in whole dB of full scale; None for a loudspeaker that was silent."""
        microphone, self._microphone = self._microphone, 0.0
        loudspeaker, self._loudspeaker = self._loudspeaker, 0.0
        return _decibels(microphone), _decibels(loudspeaker) if loudspeaker else None


def _decibels(power: float) -> int:
    return round(max(QUIETEST_DBFS, 10.0 * log10(power))) if power else round(QUIETEST_DBFS)
