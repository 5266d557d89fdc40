"""Hotplug: the kernel and the sound server tell that devices came or went, so that nothing has to poll for them."""

import asyncio
import math
import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

import structlog
from asyncinotify import Inotify, Mask

from audio.devices.portaudio import DEVICES, DeviceList

log = structlog.get_logger()

SETTLE_SECONDS: Final = 1.0
"""From the last change to the look at it: a card comes as a dozen files, then gets its rights."""

AGAIN_SECONDS: Final = 5.0
"""From the last change to a second look: a sound server takes some seconds to take up what the kernel has found."""

SLOW_SECONDS: Final = 60.0
"""Between two looks where nothing tells of a change."""

CONNECT_SECONDS: Final = 6.0
"""Between two tries to reach a sound server that does not run; one costs 4 ms of a core."""

CONNECTED_SECONDS: Final = 1.0
"""A subscription that lives for so long has reached its server."""

RETRY_PAUSES: Final = (0.25, 0.5, 1.0, *(2.0,) * 10)
"""Seconds between the first looks for a device that was just lost: a sound server that restarts is soon back."""

SOUND_FOLDER: Final = Path("/dev/snd")

SUBSCRIBE: Final = ("env", "LC_ALL=C", "pactl", "subscribe")
"""Prints a line for each change, in English; works with PulseAudio and with PipeWire's own server for its clients."""

NOT_INSTALLED: Final = frozenset({126, 127})
"""What `env` ends with where it finds no such program."""

_DEVICE_CHANGE: Final = re.compile(rb"Event '(new|remove)' on (source|sink|card) #|Event 'change' on server")
"""Of a device, or of the choice of the default one. What our own streams cause (clients, volumes) is none."""


class HotplugSource(Protocol):
    """Something that tells of changes."""

    async def __call__(self, changed: Callable[[], None]) -> None:
        """Call `changed` once it watches, and at each change; until cancelled, or return where it cannot watch."""


class Hotplug:
    """Tells when a look for a missing device is worth its cost. All on one event loop, whose clock it uses.

    The sources run only while somebody waits: a box with all its devices costs nothing.
    """

    def __init__(self, sources: Sequence[HotplugSource], devices: DeviceList = DEVICES) -> None:
        """`devices` is told of each change, so that the next look reads the list anew."""
        self._sources = tuple(sources)
        self._devices = devices
        self._told = asyncio.Event()
        self._told_at = -math.inf
        """Seconds on the loop's clock of the last change."""
        self._awaited = asyncio.Event()

    async def wait(self) -> None:
        """Return when a look is due: `SETTLE_SECONDS` and `AGAIN_SECONDS` after a change, or in `SLOW_SECONDS`.

        Any number may wait; each is told of each change, also of one that came just before it began to wait.
        """
        clock = asyncio.get_running_loop().time
        began = clock()
        self._awaited.set()
        while (due := self._due(began)) > clock():
            self._told.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout_at(due):
                    await self._told.wait()

    async def run(self) -> None:
        """Run the sources while somebody waits, for ever."""
        while True:
            await self._awaited.wait()
            async with asyncio.TaskGroup() as group:
                watching = [group.create_task(self._watch(source)) for source in self._sources]
                with suppress(TimeoutError):
                    while True:  # whoever still misses a device waits anew after each look
                        self._awaited.clear()
                        async with asyncio.timeout(2 * SLOW_SECONDS):
                            await self._awaited.wait()
                for each in watching:
                    each.cancel()

    async def _watch(self, source: HotplugSource) -> None:
        await source(self._changed)

    def _changed(self) -> None:
        self._told_at = asyncio.get_running_loop().time()
        self._devices.expect_change()
        self._told.set()

    def _due(self, began: float) -> float:
        looks = (self._told_at + SETTLE_SECONDS, self._told_at + AGAIN_SECONDS, began + SLOW_SECONDS)
        return min(at for at in looks if at > began)


def system_hotplug() -> Hotplug:
    """Return the word of this machine's kernel and sound server."""
    return Hotplug((FolderChanges(), ServerChanges()))


class FolderChanges:
    """A `HotplugSource`: a folder of device files, which need not be there yet, watched by inotify."""

    def __init__(self, folder: Path = SOUND_FOLDER) -> None:
        self._folder = folder

    async def __call__(self, changed: Callable[[], None]) -> None:
        """Tell of files that come, go, or change their rights, and of the folder itself."""
        try:
            with Inotify() as inotify:
                inotify.add_watch(self._folder.parent, Mask.CREATE | Mask.DELETE)
                self._watch_folder(inotify)
                changed()
                async for event in inotify:
                    is_of_parent = event.watch is not None and event.watch.path == self._folder.parent
                    if is_of_parent and str(event.name) != self._folder.name:
                        continue
                    if is_of_parent and event.mask & Mask.CREATE:
                        self._watch_folder(inotify)
                    changed()
        except OSError as error:
            log.info("hotplug_unavailable", source=str(self._folder), reason=str(error))

    def _watch_folder(self, inotify: Inotify) -> None:
        with suppress(FileNotFoundError):
            inotify.add_watch(self._folder, Mask.CREATE | Mask.DELETE | Mask.ATTRIB)


class ServerChanges:
    """A `HotplugSource`: the subscription of PulseAudio or PipeWire, through `pactl` where that is installed."""

    def __init__(
        self, command: Sequence[str] = SUBSCRIBE, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._command = command
        self._sleep = sleep

    async def __call__(self, changed: Callable[[], None]) -> None:
        """Tell of devices that come and go, of another default, and of a server that has come."""
        while await self._subscribe(changed) not in NOT_INSTALLED:
            await self._sleep(CONNECT_SECONDS)

    async def _subscribe(self, changed: Callable[[], None]) -> int:
        """Follow one subscription to its end; return what the program ended with."""
        try:
            program = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
            )
        except FileNotFoundError:
            return min(NOT_INSTALLED)
        connected = asyncio.get_running_loop().call_later(CONNECTED_SECONDS, changed)
        try:
            assert program.stdout is not None
            async for line in program.stdout:
                if _DEVICE_CHANGE.match(line):
                    changed()
            return await program.wait()
        finally:
            connected.cancel()
            with suppress(ProcessLookupError):
                program.kill()
            await program.wait()
