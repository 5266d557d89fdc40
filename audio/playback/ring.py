"""Samples on their way from the event loop to a sound card's callback, without a lock."""

import numpy as np

from audio.pcm import Samples


class SampleRing:
    """A bounded queue of int16 samples for one writer thread and one reader thread.

    Order is kept, nothing is lost but by `drop`. Neither side ever waits: `write` takes only what fits, `read` gives
    silence for what is missing. Each position below is assigned by one thread only, and assigning an int is atomic.
    """

    def __init__(self, capacity: int) -> None:
        self._samples = np.zeros(capacity, np.int16)
        self._written = 0
        """Samples ever written; the writer's."""
        self._dropped_to = 0
        """Everything before this position is not to be read; the writer's."""
        self._read = 0
        """Samples ever read or skipped; the reader's."""

    @property
    def waiting(self) -> int:
        """Samples that are still to be read."""
        return self._written - max(self._read, self._dropped_to)

    @property
    def room(self) -> int:
        """Samples that fit."""
        return len(self._samples) - (self._written - self._read)

    def write(self, samples: Samples) -> int:
        """Queue as many of the samples as fit and return how many. Writer only."""
        taken = min(len(samples), self.room)
        start = self._written % len(self._samples)
        first = min(taken, len(self._samples) - start)
        self._samples[start : start + first] = samples[:first]
        self._samples[: taken - first] = samples[first:taken]
        self._written += taken
        return taken

    def drop(self) -> int:
        """Forget what is queued and return how many samples that were. Writer only."""
        dropped = self.waiting
        self._dropped_to = self._written
        return dropped

    def read(self, out: Samples) -> int:
        """Fill `out` with the next samples, then with zeros; return how many were samples. Reader only."""
        position = max(self._read, self._dropped_to)
        given = min(len(out), self._written - position)
        start = position % len(self._samples)
        first = min(given, len(self._samples) - start)
        out[:first] = self._samples[start : start + first]
        out[first:given] = self._samples[: given - first]
        out[given:] = 0
        self._read = position + given
        return given
