"""Supervises the microphone: opens it again after a fault, and finds the faults that its own sound does not show."""

import asyncio
import math
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Final

import structlog
from msgspec import Struct

from audio.capture.health import DeviceFault, Fault, is_copy
from audio.capture.live import LiveMicrophone
from audio.devices.hotplug import RETRY_PAUSES
from audio.devices.pulse import records_itself
from audio.errors import DeviceUnavailable
from audio.pcm import Samples
from audio.playback.reopening import PlayedSound
from memory.json_value import Json

log = structlog.get_logger()

FAULTY_PAUSE: Final = 4.0
"""Seconds between tries of a device that can be opened and has a fault: only its own sound shows that it is well."""

LOOK_SECONDS: Final = 1.0
"""Between two looks at what it hears."""

SUSPICIOUS_ZEROS: Final = 2.0
"""Seconds of zeros after which the sound server is asked whose sound that is: its silent loudspeaker's?"""

ASK_AGAIN: Final = 30.0
"""Seconds until the server is asked again about zeros that were innocent."""


class Around(Struct, frozen=True):
    """What the supervision asks outside of the microphone; replaced where time or a sound server is simulated."""

    clock: Callable[[], float] = monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    records_itself: Callable[[], Awaitable[bool | None]] = records_itself
    """Whether the sound server gives us our own loudspeaker's sound; None where nobody knows."""


class MicrophoneSupervision:
    """Has a source listened to for ever, whatever happens to it, and knows how it is. All on the event loop.

    A recording is listened to once; a microphone until cancelled. One that is missing is looked for some times soon
    after it was lost, then when `next_look` returns: looking costs up to 80 ms of a core, and the box may have none.
    """

    def __init__(
        self,
        microphone: LiveMicrophone | None,
        on_change: Callable[[Fault | None], None],
        next_look: Callable[[], Awaitable[None]],
        played: PlayedSound | None = None,
        around: Around | None = None,
    ) -> None:
        """Supervise a microphone, None for a recording; `played` is what went to the loudspeaker.

        `on_change` is told when it is lost, with the fault, and when it is back, with None. `next_look` returns when a
        missing device may have come (`Hotplug.wait`).
        """
        self.fault: Fault | None = None
        """What is wrong with it now."""
        self._on_change = on_change
        self.first_heard = asyncio.Event()
        """Set once it was there: before that nobody needs a recognizer."""
        self._microphone = microphone
        self._next_look = next_look
        self._played = played or PlayedSound()
        self._around = around or Around()
        self._reason = ""
        self._times_lost = 0
        self._lost_at = 0.0
        self._ask_at = -math.inf
        """Seconds on the clock from which on the server may be asked about zeros."""
        self._copies = 0
        """Looks in a row at which it heard nothing but it."""
        if microphone is None:
            self.first_heard.set()

    def absent(self, reason: str) -> Fault:
        """Say that there is none at the start, though one may come; return the fault."""
        self.fault, self._reason, self._lost_at = Fault.GONE, reason, self._around.clock()
        return self.fault

    @property
    def is_awaited(self) -> bool:
        """Whether there never was one yet."""
        return not self.first_heard.is_set() and self.fault is not None

    def chunk(self) -> None:
        """Take note that a chunk came."""
        if self._microphone is None or not self._microphone.is_proven:
            return
        self.first_heard.set()
        if self.fault is None:
            return
        seconds = round(self._around.clock() - self._lost_at, 1)
        log.info("microphone_back", device=self._microphone.name, seconds=seconds)
        self.fault, self._reason = None, ""
        self._on_change(None)

    async def keep(self, listen: Callable[[], Awaitable[None]], rest: Callable[[], None]) -> None:
        """Run `listen`, again after each fault of the device; `rest` is called whenever nothing is listened to."""
        tries = 0
        while True:
            try:
                await listen()
            except DeviceUnavailable as error:
                tries = 0 if self.fault is None else tries
                self._lose(error)
                is_missing = not isinstance(error, DeviceFault)
            else:
                return
            finally:
                rest()
            await self._pause(tries, is_missing=is_missing)
            tries += 1

    async def _pause(self, tries: int, *, is_missing: bool) -> None:
        if is_missing and (self.is_awaited or tries >= len(RETRY_PAUSES)):
            await self._next_look()
        else:
            await self._around.sleep(RETRY_PAUSES[tries] if tries < len(RETRY_PAUSES) else FAULTY_PAUSE)

    async def watch(self) -> None:
        """Look whether what is heard is the loudspeaker's monitor, for ever; returns at once for a recording."""
        if self.is_awaited:
            await self.first_heard.wait()
        while self._microphone is not None:
            await self._around.sleep(LOOK_SECONDS)
            await self._look(self._microphone)

    def describe(self) -> dict[str, Json]:
        """Return how the microphone is, for the status."""
        told: dict[str, Json] = {"state": self.fault.value if self.fault else "open", "times_lost": self._times_lost}
        return {**told, "reason": self._reason} if self.fault else told

    def _lose(self, error: DeviceUnavailable) -> None:
        self._reason = str(error)
        fault = error.fault if isinstance(error, DeviceFault) else Fault.GONE
        if self.fault is not None:
            # A device that could not be opened for a while still has the fault for which it was closed.
            self.fault = fault if isinstance(error, DeviceFault) else self.fault
            log.debug("microphone_still_unavailable", reason=self._reason)
            return
        self.fault, self._lost_at, self._times_lost = fault, self._around.clock(), self._times_lost + 1
        log.warning("microphone_unavailable", fault=fault.value, reason=self._reason)
        self._on_change(fault)

    async def _look(self, microphone: LiveMicrophone) -> None:
        heard, _ = microphone.recent()
        if len(heard) == 0:
            return
        self._copies = self._copies + 1 if await self._is_copy(heard) else 0
        now = self._around.clock()
        doubtful = self.fault is Fault.MONITOR and not microphone.is_proven
        zeros = microphone.zero_seconds >= SUSPICIOUS_ZEROS and now >= self._ask_at
        # A single look may fall on a moment in which it was close to the microphone and everything else silent.
        if not (doubtful or zeros or self._copies >= 2):
            return
        self._ask_at = now + ASK_AGAIN
        itself = await self._around.records_itself()
        if itself or (itself is None and self._copies >= 2):
            self._copies = 0
            microphone.give_up(Fault.MONITOR)
        elif doubtful and (itself is False or self._hears_others(microphone)):
            microphone.trust()

    async def _is_copy(self, heard: Samples) -> bool:
        played = self._played.last(self._around.clock())
        if len(played) <= len(heard) or not heard.any():
            return False
        return await asyncio.to_thread(is_copy, heard, played)

    def _hears_others(self, microphone: LiveMicrophone) -> bool:
        """Whether there is sound while it was silent: a monitor would have none."""
        return microphone.zero_seconds == 0.0 and len(self._played.last(self._around.clock())) == 0
