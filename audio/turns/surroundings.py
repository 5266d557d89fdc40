"""The environment of a listener: what of the box it has to know."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from time import monotonic

from msgspec import Struct, field

from audio.interfaces import EchoGuard, StreamingRecognizer, always_awake
from audio.pcm import AudioChunk


class SpeechActivity:
    """The moment at which speech was last under way, on the source's clock. On the event loop."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        """`clock` is the source's, in seconds."""
        self._clock = clock
        self.last_at = 0.0
        """Seconds on the source's clock; 0 before anybody spoke."""

    def heard(self, at: float) -> None:
        """Take that speech is under way at this moment."""
        self.last_at = at

    def within(self, seconds: float) -> bool:
        """Whether somebody speaks, or did so in the last so many seconds."""
        return self._clock() - self.last_at < seconds


class NoEcho:
    """An `EchoGuard` for sound without nakari's voice: a recording read faster than it is spoken."""

    def clean(self, chunk: AudioChunk) -> AudioChunk:
        """Return the chunk itself."""
        return chunk

    def passes(self, chunk: AudioChunk) -> bool:
        """Let everything pass."""
        return True

    def covers(self, chunk: AudioChunk) -> bool:
        """Cover nothing."""
        return False

    def suspicion(self, started_at: float, ended_at: float) -> float:
        """Suspect nothing."""
        return 0.0


class Surroundings(Struct, frozen=True):
    """The environment of a listener."""

    echo: EchoGuard = field(default_factory=NoEcho)
    clock: Callable[[], float] = monotonic
    """The clock of whoever reads `RecognizedTurn.recognized_at`."""
    activity: SpeechActivity = field(default_factory=SpeechActivity)
    """Told when speech is under way."""
    may_rest: Callable[[], bool] = always_awake
    """Whether nothing else forbids taking a few chunks at a time while it is quiet; asked from any thread."""
    recognizing: Callable[[], AbstractAsyncContextManager[None]] = nullcontext
    """Returns what is held while the recognizer is at work: several ears may share one."""
    streaming: StreamingRecognizer | None = None
    """Who follows each turn while it is spoken; its words end a turn that they finish."""
