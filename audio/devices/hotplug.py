"""Hotplug: change notifications of the kernel and the sound server, so that nothing polls for devices."""

import asyncio
import math
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

import structlog

from audio.backoff import Backoff
from audio.devices.portaudio import DEVICES, DeviceList
from audio.loops import Loop

log = structlog.get_logger()

SETTLE_SECONDS: Final = 1.0
"""From the last change to the look at it: a card comes as a dozen files, then gets its rights."""

AGAIN_SECONDS: Final = 5.0
"""From the last change to a second look: a sound server takes some seconds to take up what the kernel has found."""

SLOW_SECONDS: Final = 60.0
"""Between two looks where nothing tells of a change."""

IDLE_SECONDS: Final = 2 * SLOW_SECONDS
"""Without anybody who waits, until the sources are left alone; who misses a device waits anew after each look."""

CONNECT_SECONDS: Final = 6.0
"""Between two tries to reach a sound server that does not run; one costs 4 ms of a core."""

QUICK_TRIES: Final = 10
"""A server that restarts is back within a minute of them; where none ever answers they become rarer."""

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


HotplugSource: TypeAlias = Callable[[Callable[[], None]], Awaitable[None]]
"""A source of change notifications: calls its argument once it watches, and at each change; until cancelled, or returns
where it cannot watch."""


class Hotplug:
    """Decides when a missing device is looked for. All on one event loop, whose clock it uses.

    The sources run only while somebody waits: a box with all its devices costs nothing.
    """

    def __init__(self, sources: Mapping[str, HotplugSource], devices: DeviceList = DEVICES) -> None:
        """Take sources by their names; `devices` is told of each change, so that the next look reads the list anew."""
        self._sources = dict(sources)
        self._devices = devices
        self._told = asyncio.Event()
        self._told_at = -math.inf
        """Seconds on the loop's clock of the last change."""
        self._awaited = asyncio.Event()
        self._awaited_at = -math.inf
        """Seconds on the loop's clock at which somebody last began to wait."""
        self._limits: dict[str, asyncio.Timeout] = {}
        """When each source that is followed is left alone: moved on by whoever waits."""

    async def wait(self) -> None:
        """Return when a look is due: `SETTLE_SECONDS` and `AGAIN_SECONDS` after a change, or in `SLOW_SECONDS`.

        Any number may wait; each is told of each change, also of one that came just before it began to wait.
        """
        clock = asyncio.get_running_loop().time
        began = self._awaited_at = clock()
        self._awaited.set()
        for limit in self._limits.values():
            with suppress(RuntimeError):  # it has just run out, and the source is begun anew
                limit.reschedule(began + IDLE_SECONDS)
        while (due := self._due(began)) > clock():
            self._told.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout_at(due):
                    await self._told.wait()

    def loops(self) -> Mapping[str, Loop]:
        """Return a loop for each source: follows it while somebody waits, and ends where the source cannot watch."""
        return {f"hotplug: {name}": partial(self._follow, name) for name in self._sources}

    async def _follow(self, name: str) -> None:
        clock = asyncio.get_running_loop().time
        while True:
            await self._awaited.wait()
            try:
                async with asyncio.timeout(IDLE_SECONDS) as limit:
                    self._limits[name] = limit
                    await self._sources[name](self._changed)
                    return
            except TimeoutError:
                if clock() - self._awaited_at >= IDLE_SECONDS:
                    self._awaited.clear()
            finally:
                del self._limits[name]

    def _changed(self) -> None:
        self._told_at = asyncio.get_running_loop().time()
        self._devices.expect_change()
        self._told.set()

    def _due(self, began: float) -> float:
        looks = (self._told_at + SETTLE_SECONDS, self._told_at + AGAIN_SECONDS, began + SLOW_SECONDS)
        return min(at for at in looks if at > began)


def system_hotplug() -> Hotplug:
    """Return the word of this machine's kernel and sound server."""
    return Hotplug({"the sound folder": folder_changes, "the sound server": ServerChanges()})


async def folder_changes(changed: Callable[[], None], folder: Path = SOUND_FOLDER) -> None:
    """Watch a folder of device files, which need not be there yet, by inotify: a `HotplugSource`.

    Tells of files that come, go, or change their rights, and of the folder itself.
    """
    from asyncinotify import Inotify, Mask  # starts ldconfig when imported

    try:
        with Inotify() as inotify:

            def watch_folder() -> None:
                with suppress(FileNotFoundError):
                    inotify.add_watch(folder, Mask.CREATE | Mask.DELETE | Mask.ATTRIB)

            inotify.add_watch(folder.parent, Mask.CREATE | Mask.DELETE)
            watch_folder()
            changed()
            async for event in inotify:
                is_of_parent = event.watch is not None and event.watch.path == folder.parent
                if is_of_parent and str(event.name) != folder.name:
                    continue
                if is_of_parent and event.mask & Mask.CREATE:
                    watch_folder()
                changed()
    except OSError as error:
        log.info("hotplug_unavailable", source=str(folder), reason=str(error))


class ServerChanges:
    """A `HotplugSource`: the subscription of PulseAudio or PipeWire, through `pactl` where that is installed."""

    def __init__(
        self, command: Sequence[str] = SUBSCRIBE, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._command = command
        self._sleep = sleep
        self._backoff = Backoff(CONNECT_SECONDS, SLOW_SECONDS, forgiven=QUICK_TRIES)

    async def __call__(self, changed: Callable[[], None]) -> None:
        """Tell of devices that come and go, of another default, and of a server that has come."""
        while await self._subscribe(changed) not in NOT_INSTALLED:
            await self._sleep(self._backoff.failed(at_least=CONNECT_SECONDS))

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
                self._backoff.worked()
                if _DEVICE_CHANGE.match(line):
                    changed()
            return await program.wait()
        finally:
            connected.cancel()
            with suppress(ProcessLookupError):
                program.kill()
            await program.wait()
