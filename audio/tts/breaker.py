"""Whether a voice that failed is asked again already."""

from collections.abc import Callable

FIRST_PAUSE_SECONDS = 10.0
LONGEST_PAUSE_SECONDS = 300.0


class Breaker:
    """Opens at a failure, for twice as long each time in a row; then one try decides.

    `clock` gives monotonic seconds. One failure is enough: a person hears each, as a pause and another voice.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._pause = 0.0
        self._until = clock()

    @property
    def is_open(self) -> bool:
        """Whether the voice is to be left alone now."""
        return self._clock() < self._until

    def failed(self) -> None:
        """Take note of a failure."""
        self._pause = min(LONGEST_PAUSE_SECONDS, max(FIRST_PAUSE_SECONDS, 2 * self._pause))
        self._until = self._clock() + self._pause

    def succeeded(self) -> None:
        """Take note of a whole sentence."""
        self._pause, self._until = 0.0, self._clock()
