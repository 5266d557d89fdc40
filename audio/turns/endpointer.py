"""Endpointing: a pure state machine over the probability of speech that finds where an utterance begins and ends."""

from enum import Enum
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import astuple

from audio.pcm import CHUNK_SECONDS
from audio.turns.turn import SOFT_END_SECONDS, Span

SPEECH_BEGINS: Final = 0.5
"""Probability of speech from which a chunk begins it (upstream Silero's `VADIterator` threshold)."""

SPEECH_GOES_ON: Final = 0.35
"""Probability from which a chunk goes on with speech under way (upstream: 0.15 under the threshold)."""

ONSET_SECONDS: Final = 0.064
"""Speech that begins a turn: two chunks, as a single one is as often a click."""

COMMIT_SECONDS: Final = 0.7
"""Silence after which the turn is over, unless words or voice say otherwise (`Endpointer.commit_after`)."""

LEAST_SPEECH_SECONDS: Final = 0.16
"""An utterance with less speech is dropped: a cough, a door."""

LONGEST_SECONDS: Final = 29.0
"""A turn is cut here, and goes on as the next one: with the pre-roll it fills Whisper's window of 30 s. Of what is
longer Whisper decodes the rest by itself, and invents words for it."""

_ROUNDING: Final = 1e-9
"""Seconds by which sums of chunk lengths may miss a bound that they reach."""


class Started(Struct, frozen=True):
    """Speech began."""

    at: float
    """Seconds on the source's clock of its first chunk."""


class SoftEnd(Struct, frozen=True):
    """A first silence: the words so far can be recognized ahead of the commit."""

    ended_at: float
    """Seconds on the source's clock at which speech ended."""


class Resumed(Struct, frozen=True):
    """Speech went on after a soft end: what was recognized ahead is void."""

    at: float


class Committed(Span, frozen=True):
    """The turn is over; `at` is when that was decided."""


class Dropped(Struct, frozen=True):
    """What began as speech was too short to be any."""

    speech_seconds: float
    ended_at: float
    """Seconds on the source's clock at which it ended."""


Signal: TypeAlias = Started | SoftEnd | Resumed | Committed | Dropped


class _State(Enum):
    SILENCE = "silence"
    SPEECH = "speech"
    PAUSE = "pause"
    """After the soft end, before the commit."""


class Endpointer:
    """The state machine: takes every chunk in order, and answers with what it decides."""

    def __init__(self, commit_seconds: float = COMMIT_SECONDS, longest_seconds: float = LONGEST_SECONDS) -> None:
        self.commit_seconds = commit_seconds
        """Silence after which a turn is over where nothing else is said of its pause."""
        self._longest_seconds = longest_seconds
        self._reset()

    def _reset(self) -> None:
        self._state = _State.SILENCE
        self._commit_seconds = self.commit_seconds
        """Silence that ends this turn."""
        self._onset_at: float | None = None
        """Where the chunks above the onset began, while they are too few for speech to have begun."""
        self._speech_seconds = 0.0
        """Of the onset, then of the turn."""
        self._probabilities = 0.0
        """Sum over the chunks of that speech."""
        self._started_at = self._ended_at = 0.0
        """Of the turn, on the source's clock."""

    @property
    def is_in_turn(self) -> bool:
        """Whether a turn is open: its chunks are to be kept."""
        return self._state is not _State.SILENCE

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing has begun, not even an onset: it is as it was at first."""
        return not self.is_in_turn and self._onset_at is None

    def commit_after(self, silence: float) -> None:
        """End this pause after so much silence (s), counted from the end of speech; speech that goes on voids it."""
        if self._state is _State.PAUSE:
            self._commit_seconds = silence

    def turn_so_far(self, at: float) -> Span:
        """Return the turn that is open as it stands at a moment (s)."""
        speech = self._speech_seconds
        probability = self._probabilities * CHUNK_SECONDS / speech if speech else 0.0
        return Span(self._started_at, self._ended_at, speech, at, probability)

    def process(self, probability: float, started_at: float) -> tuple[Signal, ...]:
        """Take the next chunk: its probability of speech and when its first sample was (s); return what it decides."""
        ended_at = started_at + CHUNK_SECONDS
        if self._state is _State.SILENCE:
            return self._wait_for_speech(probability, started_at)
        is_speech = probability >= (SPEECH_GOES_ON if self._state is _State.SPEECH else SPEECH_BEGINS)
        if is_speech:
            self._add(probability)
            self._ended_at = ended_at
        if ended_at - self._started_at >= self._longest_seconds:
            return self._end(ended_at)
        if not is_speech:
            return self._fall_silent(ended_at)
        was_paused, self._state = self._state is _State.PAUSE, _State.SPEECH
        self._commit_seconds = self.commit_seconds
        return (Resumed(started_at),) if was_paused else ()

    def flush(self, at: float) -> tuple[Signal, ...]:
        """End the turn that is open, because the source ended or is covered; forget an onset that was none yet."""
        if self.is_in_turn:
            return self._end(at)
        self._reset()
        return ()

    def _add(self, probability: float) -> None:
        """Count a chunk of speech."""
        self._speech_seconds += CHUNK_SECONDS
        self._probabilities += probability

    def _wait_for_speech(self, probability: float, started_at: float) -> tuple[Signal, ...]:
        if probability < SPEECH_BEGINS:
            self._onset_at, self._speech_seconds, self._probabilities = None, 0.0, 0.0
            return ()
        self._onset_at = started_at if self._onset_at is None else self._onset_at
        self._add(probability)
        if self._speech_seconds + _ROUNDING < ONSET_SECONDS:
            return ()
        self._state = _State.SPEECH
        self._started_at, self._ended_at = self._onset_at, started_at + CHUNK_SECONDS
        return (Started(self._started_at),)

    def _fall_silent(self, now: float) -> tuple[Signal, ...]:
        silence = now - self._ended_at + _ROUNDING
        if silence >= self._commit_seconds:
            return self._end(now)
        if self._state is _State.SPEECH and silence >= SOFT_END_SECONDS:
            self._state = _State.PAUSE
            return (SoftEnd(self._ended_at),)
        return ()

    def _end(self, now: float) -> tuple[Signal, ...]:
        turn = Committed(*astuple(self.turn_so_far(now)))
        self._reset()
        is_long_enough = turn.speech_seconds + _ROUNDING >= LEAST_SPEECH_SECONDS
        return (turn if is_long_enough else Dropped(turn.speech_seconds, turn.ended_at),)
