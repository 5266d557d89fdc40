"""A loudspeaker that may come and go: supervised, opened again when it is back, silent in between."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

import numpy as np
import structlog

from audio.devices.hotplug import RETRY_PAUSES
from audio.devices.portaudio import SOUND_THREAD, SoundThread
from audio.errors import DeviceUnavailable
from audio.pcm import SAMPLE_RATE, Samples
from audio.playback.live import Filler, LivePlayer, Output, OutputFormat
from audio.resampler import StreamResampler

KEPT_SECONDS: Final = 4.0
"""A second of captured sound, the delay from loudspeaker to microphone, and the time until somebody compares them."""

MOST_BLOCKS: Final = 2000
"""Kept at most; blocks of 2 ms and more cover `KEPT_SECONDS`."""


class PlayedSound:
    """The last seconds that were played. Written by the sound card's thread, read by any."""

    def __init__(self) -> None:
        self._blocks: deque[tuple[Samples, int, float]] = deque(maxlen=MOST_BLOCKS)
        """Copies, each with its rate (Hz) and the moment (s) at which its first sample is heard; the oldest goes."""

    def keep(self, samples: Samples, sample_rate: int, at: float) -> None:
        """Copy a buffer, int16, shape (n,), mono, heard from `at` on, seconds on the clock; silence too."""
        self._blocks.append((samples.copy(), sample_rate, at))
        while self._blocks and self._blocks[0][2] < at - KEPT_SECONDS:
            self._blocks.popleft()

    def last(self, now: float) -> Samples:
        """Return at most `KEPT_SECONDS` up to `now`, int16 at 16 kHz, without gaps; none where it was silent."""
        blocks = [each for each in tuple(self._blocks) if now - KEPT_SECONDS <= each[2]]
        if not any(samples.any() for samples, _, _ in blocks):
            return np.zeros(0, np.int16)
        rate = blocks[-1][1]
        sound = np.concatenate([samples for samples, its_rate, _ in blocks if its_rate == rate])
        return StreamResampler(rate, SAMPLE_RATE).feed(sound)


log = structlog.get_logger()

DEAD_SECONDS: Final = 1.5
"""A device that asks for nothing for so long is gone; blocks are asked for at least every 60 ms."""

LOOK_SECONDS: Final = 0.25
"""Seconds between two checks of an open device."""

PATIENCE: Final = 5.0
"""Seconds that a start or an end waits for a sound system that hangs; longer, and it goes on without."""

NOWHERE: Final = OutputFormat("nothing (no loudspeaker)", 48_000, 0.06)


class ReopeningOutput:
    """An `Output` over a device that may come and go; to its filler it is always open.

    Its format is what the device had that was there first; another one's rate is converted. While there is none,
    nothing is asked for, so that a `LivePlayer` on it raises `DeviceUnavailable` for what nobody would hear.
    """

    def __init__(
        self,
        output: Output,
        *,
        thread: SoundThread = SOUND_THREAD,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._observers: list[Callable[[bool], None]] = []
        self.played = PlayedSound()
        self.is_there = False
        self.name = NOWHERE.name
        self.reason = ""
        """Why it is not there; empty while it is."""
        self.times_lost = 0
        self._output = output
        self._thread = thread
        self._clock = clock
        self._sleep = sleep
        self._format = NOWHERE
        self._device_rate = NOWHERE.sample_rate
        """Hz, of what is open now."""
        self._fill: Filler | None = None
        self._conversion: _Conversion | None = None
        self._asked_at = 0.0
        """Seconds on the clock of the last callback; written by its thread."""
        self._is_given_up = False
        """Whether its stream was ended for a look at the list of devices, which nobody need be told of."""

    def observe(self, observer: Callable[[bool], None]) -> None:
        """Have one more told, on the event loop, when it is there again (true) and when it is gone (false)."""
        self._observers.append(observer)

    def open(self) -> OutputFormat:
        """Open the device, or remember why that cannot be: it may come later. Blocks for `PATIENCE` at most."""
        try:
            self._format = self._thread.call(self._output.open, PATIENCE)
        except DeviceUnavailable as error:
            self.reason = str(error)
        else:
            self.name, self._device_rate, self.is_there = self._format.name, self._format.sample_rate, True
        return self._format

    def begin(self, fill: Filler) -> None:
        """Start asking for samples, if it is there; again whenever it comes back."""
        self._fill = fill
        self._asked_at = self._clock()
        if not self.is_there:
            return
        try:
            self._thread.call(partial(self._output.begin, self._give), PATIENCE)
        except DeviceUnavailable as error:
            self.is_there, self.reason = False, str(error)

    def close(self) -> None:
        """Stop asking and release the device, at once where it does not hang; safe to call twice."""
        try:
            self._thread.call(self._output.close, PATIENCE)
        except DeviceUnavailable as error:
            log.warning("loudspeaker_stuck", reason=str(error))

    def describe(self) -> dict[str, str | int]:
        """Return how it is, for the status."""
        state = {"device": self.name, "state": "open" if self.is_there else "gone", "times_lost": self.times_lost}
        return state if self.is_there else {**state, "reason": self.reason}

    async def run(self, next_look: Callable[[], Awaitable[None]]) -> None:
        """Watch the device and open it again when it is gone, for ever.

        One that is missing is looked for some times soon after it was lost, then when `next_look` returns: when it may
        have come (`Hotplug.wait`).
        """
        while True:
            await self._sleep(LOOK_SECONDS)
            is_given_up = self._is_given_up
            if is_given_up and await self._try():
                continue
            if self.is_there and (is_given_up or self._clock() - self._asked_at > DEAD_SECONDS):
                self.is_there, self.times_lost = False, self.times_lost + 1
                self.reason = f"{self.name} takes no more sound: check its cable or the sound server"
                log.warning("loudspeaker_lost", reason=self.reason)
                self._tell(False)
            if not self.is_there:
                await self._reopen(next_look)
                log.info("loudspeaker_back", device=self.name)
                self._tell(True)

    def _tell(self, is_there: bool) -> None:
        for observer in self._observers:
            observer(is_there)

    async def _reopen(self, next_look: Callable[[], Awaitable[None]]) -> None:
        """Return when it is open again."""
        pauses = iter(RETRY_PAUSES if self.times_lost else ())
        while not await self._try():
            if (pause := next(pauses, None)) is None:
                await next_look()
            else:
                await self._sleep(pause)

    async def _try(self) -> bool:
        """Open it; return whether it is open."""
        self._is_given_up = False
        loop = asyncio.get_running_loop()
        # Waits for as long as the sound system hangs; one job at a time, so that nothing piles up behind it.
        await loop.run_in_executor(self._thread, self._output.close)
        try:
            opened = await loop.run_in_executor(self._thread, self._output.open)
            rate, self._device_rate = self._format.sample_rate, opened.sample_rate
            self._conversion = None if rate == opened.sample_rate else _Conversion(rate, opened.sample_rate)
            self._asked_at = self._clock()
            await loop.run_in_executor(self._thread, self._output.begin, self._give)
        except DeviceUnavailable as error:
            self.reason = str(error)
            return False
        self.name, self.reason, self.is_there = opened.name, "", True
        return True

    def _give(self, out: Samples, delay: float) -> None:
        """Fill what the device asks for; in the sound card's thread."""
        if len(out) == 0:
            self._is_given_up = True
            return
        now = self._asked_at = self._clock()
        if self._fill is None:
            out[:] = 0
        elif self._conversion is None:
            self._fill(out, delay)
        else:
            self._conversion.fill(self._fill, out, delay)
        self.played.keep(out, self._device_rate, now + delay)


class _Conversion:
    """From the rate that is filled to the one that the device has."""

    def __init__(self, rate: int, device_rate: int) -> None:
        self._ratio = rate / device_rate
        self._resampler = StreamResampler(rate, device_rate)
        self._ready: Samples = np.zeros(0, np.int16)

    def fill(self, fill: Filler, out: Samples, delay: float) -> None:
        while len(self._ready) < len(out):
            needed = np.empty(max(1, round((len(out) - len(self._ready)) * self._ratio)), np.int16)
            fill(needed, delay)
            self._ready = np.concatenate([self._ready, self._resampler.feed(needed)])
        out[:], self._ready = self._ready[: len(out)], self._ready[len(out) :]


class ReopeningPlayer(LivePlayer):
    """A `Player` on a loudspeaker that may come and go; `output.run` supervises it."""

    def __init__(self, output: Output, name: str) -> None:
        self.output = ReopeningOutput(output)
        super().__init__(self.output, name)
