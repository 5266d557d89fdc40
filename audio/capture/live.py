"""A microphone over any sound card input that delivers samples by a callback."""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Executor, Future
from typing import TYPE_CHECKING, Final

import numpy as np

from audio.capture.health import DeviceFault, Fault, LagWatch
from audio.capture.input import Block, ChunkCutter, Input, InputFormat
from audio.devices.portaudio import SOUND_THREAD
from audio.errors import DeviceUnavailable
from audio.interfaces import always_awake
from audio.pcm import AT_REST_CHUNKS, CHUNK_SECONDS, SAMPLE_RATE, AudioChunk, Samples

if TYPE_CHECKING:
    from audio.playback.live import PlaybackTap

BUFFERED_SECONDS: Final = 10.0
"""Of sound that wait for a late reader; past that the oldest block is dropped, and counted."""

DEAD_SECONDS: Final = 3.0
"""A sound card that hands over nothing for so long is gone: a frozen server raises no error."""

ZERO_SECONDS: Final = 30.0
"""Nothing but zeros for so long is a dead or muted device: converters are never so quiet, however quiet the room."""

PROOF_SECONDS: Final = 4.0
"""Within which a device that gave only zeros has to give sound after it was opened again."""

RECENT_SECONDS: Final = 1.0
"""Of the newest sound, kept to be compared with what was played."""

CLOSE_SECONDS: Final = 2.0
"""How long closing is waited for: it blocks for as long as a server is frozen."""

_MENDS: Final = {
    Fault.GONE: "went away; plug it in again, or restart the sound server",
    Fault.STALLED: "hands over no sound; plug it in again, or restart the sound server",
    Fault.LAGGING: "falls ever further behind; the machine or the sound server is too busy",
    Fault.ZEROS: "gives nothing but zeros; unmute it (a switch on it, or alsamixer), or choose another one",
    Fault.MONITOR: "is the loudspeaker's monitor and no microphone; plug the microphone in again, or set [ears] device",
}


class LiveMicrophone:
    """An `AudioSource` that opens its card anew for each `chunks()`. Counts over its whole life.

    After `begin` the first `chunks()` goes on with what has been recorded since.
    """

    is_live = True

    def __init__(
        self,
        card: Input,
        name: str,
        dead_seconds: float = DEAD_SECONDS,
        clock: Callable[[], float] = time.monotonic,
        thread: Executor = SOUND_THREAD,
        zero_limit: float = ZERO_SECONDS,
    ) -> None:
        """`zero_limit`: seconds of nothing but zeros after which it counts as dead; `inf` for one that mutes itself."""
        self.name = name
        self._is_at_rest = always_awake
        """Whether blocks may be handed over `AT_REST_CHUNKS` at a time; asked in the sound card's thread."""
        self.missing = ""
        """Why it was not there when somebody looked before it was opened (`look`); empty where it was."""
        self._zero_limit = zero_limit
        self.is_proven = False
        """Whether it is open and hands over sound: after a fault of the sound itself, sound that is none of that."""
        self._clock = clock
        self._taps: tuple[PlaybackTap, ...] = ()
        self._card = card
        self._dead_seconds = dead_seconds
        self._thread = thread
        self._blocks: deque[Block] = deque(maxlen=round(BUFFERED_SECONDS / CHUNK_SECONDS))
        self._recent: deque[AudioChunk] = deque(maxlen=round(RECENT_SECONDS / CHUNK_SECONDS))
        self.zero_seconds = 0.0
        """Of nothing but zeros, up to now."""
        self._lag = LagWatch()
        self._fault: Fault | None = None
        """What was found since it was opened, to be raised."""
        self._suspected: Fault | None = None
        """Why it was closed the last time, until it is proven."""
        self._rate = SAMPLE_RATE
        """Interleaved samples a second."""
        self.dropped_chunks = 0
        """Blocks of a chunk's length that were lost because the reader, or this machine, was late."""
        self._begun: Future[InputFormat] | None = None
        """A card that records already, though nobody listens yet."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._arrived = asyncio.Event()
        self._is_told = False
        """Whether the loop has been told of blocks that it did not fetch yet; spares it a flood after a stall."""

    def tap(self, tap: "PlaybackTap") -> None:
        """Have one more told, on the event loop, of what the card's loopback channel holds, silence too; for good.

        Before the chunks of the same time are given; to be called before the first `chunks`.
        """
        self._taps += (tap,)

    def recent(self) -> tuple[Samples, float]:
        """Return the last `RECENT_SECONDS` of sound, int16 at 16 kHz, and when they began, seconds on the clock."""
        chunks = list(self._recent)
        if len(chunks) < (self._recent.maxlen or 0):
            return np.zeros(0, np.int16), self._clock()
        return np.concatenate([chunk.samples for chunk in chunks]), chunks[0].started_at

    def look(self, find: Callable[[], object]) -> None:
        """Find out whether it is there, by `find`, which raises `DeviceUnavailable`; that it is not is kept."""
        try:
            find()
        except DeviceUnavailable as error:
            self.missing = str(error)

    def give_up(self, fault: Fault) -> None:
        """Have `chunks` end with a fault that was found outside; on the event loop."""
        self._fault, self.is_proven = fault, False
        self._arrived.set()

    def trust(self) -> None:
        """Say that what comes is a microphone's sound, whatever was found before."""
        self.is_proven = True

    def begin(self) -> None:
        """Record from now on, before there is anybody, or an event loop, to listen; once, and without waiting.

        That it could not be opened `chunks` raises. If nobody listens: `end`.
        """
        self._begun = self._thread.submit(self._open)

    def once_begun(self, then: Callable[[InputFormat], object]) -> None:
        """Have somebody called once it records, after `begin`: in any thread, and never where it cannot be opened."""

        def tell(begun: Future[InputFormat]) -> None:
            if not begun.cancelled() and begun.exception() is None:
                then(begun.result())

        if self._begun is not None:
            self._begun.add_done_callback(tell)

    def end(self) -> None:
        """Close what was begun, if nobody has listened to it; without waiting."""
        if self._begun is not None:
            self._begun = None
            self._thread.submit(self._card.close)

    async def chunks(self, is_at_rest: Callable[[], bool] = always_awake) -> AsyncGenerator[AudioChunk, None]:
        """Yield what is recorded until closed. Raises `DeviceUnavailable`: at the first step, or when the card dies."""
        self._loop, self._is_at_rest = asyncio.get_running_loop(), is_at_rest
        try:
            # One thread, so that closing never overtakes an opening that was cancelled.
            begun, self._begun = self._begun, None
            opening = asyncio.wrap_future(begun) if begun else self._loop.run_in_executor(self._thread, self._open)
            cutter = ChunkCutter(await opening, self._taps)
            self._arrived.set()  # of what came, or ended, while nobody listened
            while True:
                await self._wait()
                while self._blocks:
                    for chunk in cutter.cut(self._blocks.popleft()):
                        self._judge(chunk)
                        yield chunk
        finally:
            self._suspected = self._fault or (None if self.is_proven else self._suspected)
            self.is_proven = False
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_SECONDS):
                    # Not cancelled with us: it has to be closed even if that comes to pass only later.
                    await asyncio.shield(self._loop.run_in_executor(self._thread, self._card.close))

    def _open(self) -> InputFormat:
        opened = self._card.open()
        self.name, self._rate = opened.name, opened.sample_rate * opened.channels
        self._blocks.clear()
        self._recent.clear()
        self._arrived.clear()
        self._fault, self._is_told, self.zero_seconds, self._lag = None, False, 0.0, LagWatch()
        self._card.begin(self._take)
        return opened

    def _judge(self, chunk: AudioChunk) -> None:
        """Judge the sound. Raises `DeviceFault`."""
        self._recent.append(chunk)
        zeros = self.zero_seconds = 0.0 if chunk.samples.any() else self.zero_seconds + CHUNK_SECONDS
        if self._suspected is not Fault.MONITOR and (self._suspected is not Fault.ZEROS or zeros == 0.0):
            self.is_proven = True
        if zeros >= (self._zero_limit if self.is_proven else min(self._zero_limit, PROOF_SECONDS)):
            raise self._failed(Fault.ZEROS)
        if self._lag.only_grows:
            raise self._failed(Fault.LAGGING)

    async def _wait(self) -> None:
        try:
            async with asyncio.timeout(self._dead_seconds):
                await self._arrived.wait()
        except TimeoutError as error:
            raise self._failed(Fault.STALLED) from error
        self._arrived.clear()
        self._is_told = False
        if self._fault is not None:
            raise self._failed(self._fault)

    def _failed(self, fault: Fault) -> DeviceFault:
        self._fault = fault
        return DeviceFault(fault, f"the microphone {self.name!r} {_MENDS[fault]}")

    def _take(self, pcm: bytes, age: float, overflowed: bool) -> None:
        now = self._clock()
        if pcm:
            if overflowed or len(self._blocks) == self._blocks.maxlen:
                self.dropped_chunks += 1
            self._blocks.append(Block(pcm, now - age))
            self._lag.took(len(pcm) / 2 / self._rate, now)
        else:
            self._fault = Fault.GONE
        if self._is_told or self._loop is None:
            return
        if self._fault is None and self._is_at_rest() and len(self._blocks) < AT_REST_CHUNKS:
            return
        self._is_told = True
        # The loop may end while the card still hands over its last block.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._arrived.set)
