"""A WAV file in place of the loudspeaker."""

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from audio.errors import OutputUnwritable
from audio.loops import until_set
from audio.pcm import Samples, wav_header
from audio.playback.volume import scaled
from audio.resampler import StreamResampler
from audio.speech import SpeechAudio

SAMPLE_RATE = 24_000
"""Hz of the file: what edge-tts gives, so that the usual voice is not resampled."""

SAMPLE_BYTES = 2
HEADER_BYTES = 44
"""Of `wav_header`."""

AHEAD_SECONDS = 1.0
"""Still to be heard, in real time, before `play` waits."""

GAP_SECONDS = 0.2
"""Between sentences when no time passes."""


class WavPlayer:
    """A `Player` into a WAV file: mono, int16, 24 kHz.

    With `realtime`, the file is what a microphone before the loudspeaker would have recorded since `start`: sound takes
    its time, and while nothing is said there is silence; a pause and a change of gain are in it to the sample, without
    a fade. Without, sentences follow each other with `GAP_SECONDS`, and a pause changes nothing: no time passes in it.
    Samples are written at once and cut off again by `stop`; the header is made true after each piece, so that the file
    can be read even after a kill -9 (its last second may then not have been heard).
    """

    def __init__(self, path: Path, *, realtime: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self.name = str(path)
        self._realtime = realtime
        self._clock = clock
        self._file = -1
        """Descriptor, open from `start` to `aclose`."""
        self._started_at = 0.0
        """Seconds of `time.monotonic` at the file's first sample."""
        self._samples = 0
        """Written to the file, silence included."""
        self.busy_until = 0.0
        """Seconds on `time.monotonic` at which the last sample is over; 0 before the first."""
        self._resampler: StreamResampler | None = None
        self._gain = 1.0
        self._ahead: Samples = np.zeros(0, np.int16)
        """In real time: the newest samples as they came, before the gain; at least all that was not heard yet."""
        self._held: Samples | None = None
        """While it is paused: what will be heard, in front of what comes meanwhile."""
        self._changed = asyncio.Event()

    async def start(self) -> None:
        """Create the file, or empty it. Raises `OutputUnwritable` when it cannot be written."""
        with self._told():
            self._file = os.open(self.name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
            self._write_header()
        self._started_at = self._clock()

    async def play(self, audio: SpeechAudio) -> None:
        """Write the samples; in real time, wait while more than a second of them is still to be heard."""
        if self._resampler is None or self._resampler.source_rate != audio.sample_rate:
            self._flush()
            self._resampler = StreamResampler(audio.sample_rate, SAMPLE_RATE)
        self._append(self._resampler.feed(audio.samples))
        await self._wait_until_left(AHEAD_SECONDS)

    async def drain(self) -> None:
        """Return when the last sample is over; without `realtime`, after writing the gap to the next sentence."""
        self._flush()
        if not self._realtime:
            self._append(np.zeros(round(GAP_SECONDS * SAMPLE_RATE), np.int16))
        await self._wait_until_left(0.0)

    def stop(self) -> float:
        """Cut off what was not heard yet and return its seconds; without `realtime` everything was heard."""
        dropped = self._cut_off()
        if self._held is not None:
            dropped = np.concatenate([self._held, dropped])
        self._held, self._resampler = None, None
        self._changed.set()
        return len(dropped) / SAMPLE_RATE

    def pause(self) -> None:
        """Take out of the file what was not heard yet, until `resume`; without `realtime` everything was heard."""
        if self._realtime and self._held is None:
            self._held = self._cut_off()

    def resume(self) -> None:
        """Write what was taken out, as if it had come just now."""
        if self._held is not None:
            held, self._held = self._held, None
            self._append(held)
            self._changed.set()

    def set_gain(self, factor: float) -> None:
        """Scale what was not heard yet, and all that comes, by a factor in [0, 1]."""
        self._gain, ahead = factor, self._cut_off()
        self._append(ahead)

    async def aclose(self) -> None:
        """Close the file; safe to call twice. Raises `OutputUnwritable` for its last samples, and closes it as well."""
        if self._file >= 0:
            try:
                self._flush()
            finally:
                os.close(self._file)
                self._file = -1

    def _flush(self) -> None:
        """Write what the change of sample rate still holds back."""
        if self._resampler is not None:
            self._append(self._resampler.flush())

    def _append(self, samples: Samples) -> None:
        if len(samples) == 0:
            return
        if self._held is not None:
            self._held = np.concatenate([self._held, samples])
            return
        now = self._clock()
        if self._realtime:
            # A hole in the file reads as silence and takes no space, however long nothing was said.
            self._samples = max(self._samples, self._heard_by(now))
            self._ahead = np.concatenate([self._ahead, samples])[-max(self._unheard_at(now) + len(samples), 1) :]
        with self._told():
            sound = scaled(samples, self._gain).astype("<i2").tobytes()
            os.pwrite(self._file, sound, HEADER_BYTES + self._samples * SAMPLE_BYTES)
            self._samples += len(samples)
            self._write_header()
        self.busy_until = self._started_at + self._samples / SAMPLE_RATE if self._realtime else now

    def _heard_by(self, now: float) -> int:
        """Return how many samples of the file are over, in real time."""
        return max(0, round((now - self._started_at) * SAMPLE_RATE))

    def _unheard_at(self, now: float) -> int:
        return max(0, self._samples - self._heard_by(now)) if self._realtime else 0

    def _cut_off(self) -> Samples:
        """Take what was not heard yet out of the file, and return it as it was before the gain."""
        now = self._clock()
        if (unheard := self._unheard_at(now)) == 0:
            return np.zeros(0, np.int16)
        self._samples, self.busy_until = self._heard_by(now), now
        with contextlib.suppress(OSError):  # what cannot be cut off is overwritten by what comes next
            os.ftruncate(self._file, HEADER_BYTES + self._samples * SAMPLE_BYTES)
            self._write_header()
        return self._ahead[-unheard:]

    def _write_header(self) -> None:
        os.pwrite(self._file, wav_header(SAMPLE_RATE, samples=self._samples), 0)

    async def _wait_until_left(self, seconds: float) -> None:
        """Wait until no more than these seconds are still to be heard, or until `stop`."""
        while (wait := self._left() - seconds) > 0:
            self._changed.clear()
            await until_set(self._changed, None if self._held is not None else wait)

    def _left(self) -> float:
        """Return the seconds that are still to be heard."""
        held = 0 if self._held is None else len(self._held)
        return max(0.0, self.busy_until - self._clock()) + held / SAMPLE_RATE

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """Turn what the system says into a sentence."""
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error)
            if isinstance(error, FileNotFoundError):
                reason = f"there is no folder {Path(self.name).parent}"
            raise OutputUnwritable(f"{self.name} cannot be written ({reason}): choose another output file") from error
