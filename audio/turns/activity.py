"""Speech activity: when somebody spoke last, so that nothing is announced over people."""

from collections.abc import Callable
from time import monotonic


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
