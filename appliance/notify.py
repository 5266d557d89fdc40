"""Tells systemd how the service is (sd_notify), and feeds its watchdog only while the named heart beats are fresh."""

import asyncio
import socket
import time
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import Executor, ThreadPoolExecutor

import structlog

SEND_SECONDS = 5.0
"""How long a message waits for a supervisor that does not read; those after it wait behind it."""

FEEDS_PER_INTERVAL = 3
"""sd_watchdog_enabled(3) recommends two; one may then be late."""

_log = structlog.get_logger(__name__)


class Notifier:
    """The datagram socket of sd_notify(3). Without an address every message is dropped: nobody supervises.

    A thread sends, in order: whoever says something never waits for a supervisor that is busy with others.
    """

    def __init__(self, address: str, thread: Executor | None = None) -> None:
        """`thread` is one of its own where none is given."""
        self.address = address
        """Path of the socket, or "@name" for an abstract one; "" for none."""
        self._thread = thread or ThreadPoolExecutor(1, "notify")

    def ready(self, status: str = "") -> None:
        """Say that the start is over."""
        self._send("READY=1", *([_status(status)] if status else []))

    def status(self, text: str) -> None:
        """Say in one line what the service is doing; `systemctl status` shows it."""
        self._send(_status(text))

    def extend(self, seconds: float, text: str) -> None:
        """Ask for that much more time to start or stop, from now on, and say what it is for."""
        self._send(f"EXTEND_TIMEOUT_USEC={int(seconds * 1_000_000)}", _status(text))

    def alive(self) -> None:
        """Feed the watchdog."""
        self._send("WATCHDOG=1")

    def reloading(self) -> None:
        """Say that the configuration is read again; `ready` says that this is over (sd_notify(3))."""
        self._send("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def stopping(self) -> None:
        """Say that the end has begun."""
        self._send("STOPPING=1")

    def _send(self, *assignments: str) -> None:
        if self.address:
            self._thread.submit(self._deliver, "\n".join(assignments).encode())

    def _deliver(self, message: bytes) -> None:
        address = f"\0{self.address[1:]}" if self.address.startswith("@") else self.address
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
                sender.settimeout(SEND_SECONDS)
                sender.sendto(message, address)
        except OSError as error:  # systemd decides what silence means
            _log.warning("supervisor_unreachable", address=self.address, reason=str(error))


class HeartBeat:
    """One thing that must keep happening, such as frames of the microphone; used from one thread. A `LoopObserver`."""

    def __init__(self, name: str, max_age: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.name = name
        self.max_age = max_age
        """Seconds after which silence means that it is stuck."""
        self._clock = clock
        self._last: float | None = None

    def stepped(self) -> None:
        """Say that it happened now, and has to happen again."""
        self._last = self._clock()

    def rested(self) -> None:
        """Say that it may wait as long as it likes: an empty mailbox, no microphone. It begins at rest."""
        self._last = None

    @property
    def age(self) -> float:
        """Seconds since the last beat; 0 at rest."""
        return 0.0 if self._last is None else self._clock() - self._last


class Watchdog:
    """Tells systemd that the service is alive for as long as that is true."""

    def __init__(
        self,
        notifier: Notifier,
        interval: float,
        beats: Iterable[HeartBeat],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Feed within `interval` seconds; 0 means that nobody waits for it, and `run` returns at once."""
        self.notifier = notifier
        self._interval = interval
        self._beats = tuple(beats)
        self._sleep = sleep
        self._stuck: tuple[str, ...] = ()

    async def run(self) -> None:
        """Feed for ever. It runs on the loop it vouches for, so that a blocked loop goes hungry too."""
        while self._interval > 0:
            self.look()
            await self._sleep(self._interval / FEEDS_PER_INTERVAL)

    def look(self) -> None:
        """Feed once if every beat is fresh; otherwise tell, once, which is not."""
        stuck = tuple(beat.name for beat in self._beats if beat.age > beat.max_age)
        if not stuck:
            self.notifier.alive()
        if stuck != self._stuck:
            self._stuck = stuck
            if stuck:
                _log.error("heart_beat_missed", parts=stuck)
                self.notifier.status(f"stuck: {', '.join(stuck)}")
            else:
                _log.info("heart_beat_returned")
                self.notifier.status("running")


def _status(text: str) -> str:
    return f"STATUS={' '.join(text.split())}"
