"""The reference of the canceller: samples that leave the loudspeaker, at 16 kHz, looked up by their time."""

import math
from collections import deque
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from audio.pcm import SAMPLE_RATE, Samples
from audio.resampler import Decimator, StreamResampler, rounded

KEPT_SECONDS: Final = 4.0
"""Of the past: the microphone's chunks come at most so much later than what was played with them."""

MOST_BUFFERS: Final = 512
"""Waiting for the event loop; past that the oldest is dropped, and the hole is filled with silence."""

JUMP_SECONDS: Final = 0.06
"""Two times that differ by more are no jitter of threads but a stream that was begun anew."""

SETTLING_SECONDS: Final = 10.0
"""In which the pairing follows the clocks: slow, so that the jitter of callbacks is not heard as a wobble."""

MOST_DRIFT: Final = 1e-3
"""Of one clock against the other; sound cards differ by some 100 ppm at most, the rest is for catching up."""


_KEPT: Final = round(KEPT_SECONDS * SAMPLE_RATE)
_ROOM: Final = SAMPLE_RATE
"""Samples after which the kept ones are moved: seldom, and at no great cost in memory."""


class _Buffer(NamedTuple):
    samples: Samples
    sample_rate: int
    at: float


class PlayedReference:
    """Keeps the last seconds of played samples. `take` is for the sound card's thread, the rest for the loop.

    Order is kept. Nobody ever waits: `take` copies and appends, bounded by `MOST_BUFFERS`. What was never given to the
    device (dropped by `stop`) never comes here. Unknown times read as silence.
    """

    def __init__(self) -> None:
        self._arrived: deque[_Buffer] = deque(maxlen=MOST_BUFFERS)
        self._kept: Samples = np.zeros(_KEPT + _ROOM, np.int16)
        """The newest samples end before `_end`; they are moved to the front when there is no room behind them."""
        self._end = _KEPT
        self._written = 0
        """Samples ever kept."""
        self._fed = 0.0
        """Samples ever taken, at 16 kHz: ahead of `_written` by what the resampler holds back."""
        self._ends_at = 0.0
        """Seconds on the player's clock at which sample `_fed` leaves the loudspeaker; 0 before the first."""
        self._resampler: Decimator | StreamResampler | None = None
        self._source_rate = 0
        """Hz of the sound that is played; 0 while there is none."""
        self._waiting: list[Samples] = []
        """Of that sound: buffers that are not resampled yet."""
        self._next: float | None = None
        """The number, with a fraction, of the sample that `read` gives next if the clocks agree."""
        self._last_sound = -1
        """The number of the newest sample kept that is not silence."""
        self.stalls = 0
        """How often the player's times jumped in the midst of sound: the machine stood still, and it was not heard."""

    def take(self, samples: Samples, sample_rate: int, at: float) -> None:
        """Keep a copy of a buffer (int16, shape (n,), Hz) whose first sample is heard at `at`; a `PlaybackTap`."""
        self._arrived.append(_Buffer(samples.copy(), sample_rate, at))

    def read(self, at: float, count: int) -> Samples:
        """Return the samples (int16, shape (count,)) that leave the loudspeaker from `at` on, to be asked for in order.

        They follow those of the call before without a seam as long as the two clocks differ by jitter and drift: the
        positions are stretched by at most `MOST_DRIFT`. After a jump of either clock they begin anew.
        """
        wanted = self._number_at(at)
        if wanted is None:
            return np.zeros(count, np.int16)
        if self._next is None or abs(wanted - self._next) > JUMP_SECONDS * SAMPLE_RATE:
            self._next = wanted
        pull = (wanted - self._next) / (SETTLING_SECONDS * SAMPLE_RATE)
        stride = 1.0 + min(MOST_DRIFT, max(-MOST_DRIFT, pull))
        began = self._next
        self._next += stride * count
        if began > self._last_sound + 2:
            return np.zeros(count, np.int16)
        return self._between(began, stride, count)

    def is_silent_since(self, at: float) -> bool:
        """Whether no sound has left the loudspeaker from `at` on, or is about to, as far as is known by now."""
        number = self._number_at(at)
        return number is None or self._last_sound < number

    def _number_at(self, at: float) -> float | None:
        """Return the number, with a fraction, of the sample that leaves the loudspeaker at `at`; None before any."""
        while self._arrived:
            self._keep(self._arrived.popleft())
        self._convert()
        return self._fed - (self._ends_at - at) * SAMPLE_RATE if self._ends_at else None

    def pair_anew(self) -> None:
        """Follow the clocks at once at the next `read`: what is asked for is another moment than before."""
        self._next = None

    def _keep(self, buffer: _Buffer) -> None:
        is_silent = not np.count_nonzero(buffer.samples)
        gap = buffer.at - self._ends_at if self._ends_at else 0.0
        is_jump, sounded = abs(gap) > JUMP_SECONDS, self._source_rate != 0
        self.stalls += is_jump and sounded
        if is_jump or (sounded and (is_silent or self._source_rate != buffer.sample_rate)):
            self._end_stream(gap if is_jump else 0.0)
        seconds = len(buffer.samples) / buffer.sample_rate
        self._fed += seconds * SAMPLE_RATE
        self._ends_at = buffer.at + seconds
        if is_silent:  # nearly always, and that shall cost nearly nothing
            self._write_silence(int(self._fed) - self._written)
            return
        self._source_rate = buffer.sample_rate
        self._waiting.append(buffer.samples)

    def _convert(self) -> None:
        """Resample all that waits at once: a call of the resampler costs more than what it does."""
        if not self._waiting:
            return
        if self._resampler is None:
            factor, rest = divmod(self._source_rate, SAMPLE_RATE)
            is_whole = factor > 1 and not rest
            self._resampler = Decimator(factor) if is_whole else StreamResampler(self._source_rate, SAMPLE_RATE)
        waiting = self._waiting[0] if len(self._waiting) == 1 else np.concatenate(self._waiting)
        self._waiting.clear()
        self._write(self._resampler.feed(waiting))

    def _end_stream(self, gap: float) -> None:
        """End what is played; `gap` seconds without anything follow."""
        self._convert()
        if self._resampler is not None:
            self._write(self._resampler.flush())
            self._resampler, self._source_rate = None, 0
        self._write_silence(round(gap * SAMPLE_RATE))
        self._fed = float(self._written)

    def _write(self, samples: Samples) -> None:
        if len(samples) and samples[-1]:  # nearly always
            self._last_sound = self._written + len(samples) - 1
        elif len(sounding := np.flatnonzero(samples)):
            self._last_sound = self._written + int(sounding[-1])
        self._written += len(samples)
        samples = samples[-_KEPT:]
        if self._end + len(samples) > len(self._kept):
            left = _KEPT - len(samples)
            self._kept[:left] = self._kept[self._end - left : self._end]
            self._end = left
        self._kept[self._end : self._end + len(samples)] = samples
        self._end += len(samples)

    def _write_silence(self, count: int) -> None:
        if count > 0 and self._last_sound >= self._written - _KEPT:
            self._write(np.zeros(min(count, _KEPT), np.int16))
        elif count > 0:
            self._written += count

    def _between(self, start: float, stride: float, count: int) -> Samples:
        """Return the sound from `start` on, `stride` (about 1) apart: a cubic through the four samples around each."""
        first = math.floor(start)
        part = np.arange(count, dtype=np.float32) * np.float32(stride - 1) + np.float32(start - first)
        if 0 <= part[-1] <= 1:  # nearly always: none is passed over, none comes twice
            around = self._span(first - 1, count + 3)
            slopes = (around[2:] - around[:-2]) * _HALF
            here, slope, next_slope = around[1:-2], slopes[:-1], slopes[1:]
            rise = around[2:-1] - here
        else:
            passed = np.floor(part).astype(np.int64)
            part -= passed
            whole = passed + np.arange(count)
            around = self._span(first - 1, int(whole[-1]) + 4)
            before, here, after, later = (around[whole + shift] for shift in range(4))
            slope, next_slope, rise = (after - before) * _HALF, (later - here) * _HALF, after - here
        turn = slope + next_slope
        turn -= rise
        turn -= rise
        # here + part * (slope + part * (rise - slope - turn + part * turn)), from the inside
        sound = part * turn
        sound += rise - slope - turn
        sound *= part
        sound += slope
        sound *= part
        sound += here
        return rounded(sound)

    def _span(self, first: int, count: int) -> NDArray[np.float32]:
        """Return the samples from number `first` on; zeros for those that are not known, or not any more."""
        start = max(first, self._written - _KEPT, 0)
        end = min(first + count, self._written)
        shift = self._end - self._written
        if end - start == count:  # nearly always
            return self._kept[start + shift : end + shift].astype(np.float32)
        span = np.zeros(count, np.float32)
        if start < end:
            span[start - first : end - first] = self._kept[start + shift : end + shift]
        return span


_HALF: Final = np.float32(0.5)
