"""Without echo cancellation it does not listen while it speaks, so that it never answers itself."""

from collections.abc import Callable
from typing import Final

from audio.pcm import AudioChunk

MARGIN_SECONDS: Final = 0.3
"""How long a room goes on sounding after the loudspeaker, and the microphone's own latency."""


class HalfDuplex:
    """An `EchoGuard` that covers the chunks of the microphone that may hold its own voice."""

    def __init__(self, busy_until: Callable[[], float], margin: float = MARGIN_SECONDS) -> None:
        self._busy_until = busy_until
        self._margin = margin

    def clean(self, chunk: AudioChunk) -> AudioChunk:
        """Return the chunk itself: nothing is cancelled here."""
        return chunk

    def suspicion(self, started_at: float, ended_at: float) -> float:
        """Suspect nothing: what may hold its voice is covered."""
        return 0.0

    def covers(self, chunk: AudioChunk) -> bool:
        """Whether sound of its own may be in the chunk; `busy_until` and the chunk's times are on `time.monotonic`."""
        busy_until = self._busy_until()
        return busy_until > 0 and chunk.started_at < busy_until + self._margin
