"""PortAudio's state in this process: one thread for blocking calls, and the list of devices and its refresh."""

import atexit
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import suppress
from math import inf
from pathlib import Path
from queue import Full, Queue
from types import ModuleType
from typing import Any, Final, Protocol, TypeVar

from audio.backoff import Backoff
from audio.errors import DeviceUnavailable

PROCESSES: Final = Path("/proc")

SERVERS: Final = ("jackd", "jackdbus")
"""Names of JACK's servers; while one runs, the database is in use."""


def what_fixes_silence(process: int | None = None, processes: Path = PROCESSES) -> str:
    """Return what fixes a sound system that does not answer `process`, this one by default."""
    if folder := _held_by_jack(process or os.getpid(), processes):
        return f"a killed program left JACK's lock: `rm -r {folder}`, and start nakari again"
    return "restart the sound server"


def _held_by_jack(process: int, processes: Path) -> str:
    """Return the folder of JACK's database while this process has it open and no server runs; else ""."""
    folder = ""
    with suppress(OSError):  # it has ended, or is another user's
        for line in (processes / str(process) / "maps").read_text(errors="replace").splitlines():
            path = line.partition("/")[1] + line.partition("/")[2].removesuffix(" (deleted)")
            if Path(path).parent.name == f"jack_db-{os.getuid()}":
                folder = str(Path(path).parent)
    return "" if folder and _runs_a_server(processes) else folder


def _runs_a_server(processes: Path) -> bool:
    for name in processes.glob("[0-9]*/comm"):
        with suppress(OSError):
            if name.read_text(errors="replace").strip() in SERVERS:
                return True
    return False


T = TypeVar("T")

WAITING_JOBS: Final = 16
"""Jobs that may wait behind one that is stuck; both directions together never have more than four."""

SOONEST_FORCED: Final = 4.0
"""Seconds before idle streams are given up again to look for a missing device; doubled each time, up to ..."""

LATEST_FORCED: Final = 300.0
"""... so many seconds."""

LOOKS_A_CHANGE: Final = 2
"""Readings of the list that one change told by the system allows, whatever was read before (see `Hotplug.wait`)."""

FRESH_SECONDS: Final = 0.2
"""A list read so shortly ago is not read again: microphone and loudspeaker look in the same moment, and a reading takes
50 to 90 ms of a core. Less than whoever misses a device pauses before it looks again."""

CARDS: Final = Path("/proc/asound/cards")
"""Changes when hardware comes or goes."""


class PortAudioModule(Protocol):
    """The part of `sounddevice` that is used here."""

    def _initialize(self) -> None: ...
    def _terminate(self) -> None: ...


class SoundThread(Executor):
    """One thread, reused for ever, for calls into a sound system that may hang in them; in the order of `submit`.

    A frozen sound server costs this thread for as long as it is frozen, and nothing else: no second thread is started,
    the event loop does not wait, and the end of the process neither (unlike that of a `ThreadPoolExecutor`).
    Bounded: past `WAITING_JOBS` a job is refused with `DeviceUnavailable`.
    """

    def __init__(self) -> None:
        self._jobs: Queue[tuple[Future[Any], Callable[[], Any]]] = Queue(WAITING_JOBS)
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._is_at_work = False

    @property
    def is_at_work(self) -> bool:
        """Whether a call has not come back yet."""
        return self._is_at_work or not self._jobs.empty()

    def submit(self, job: Callable[..., T], /, *arguments: Any, **options: Any) -> Future[T]:
        """Queue a job. Raises `DeviceUnavailable` when too many wait for one that is stuck."""
        future: Future[T] = Future()
        try:
            self._jobs.put_nowait((future, lambda: job(*arguments, **options)))
        except Full as error:
            raise _silent() from error
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="sound", daemon=True)
                self._thread.start()
        return future

    def call(self, job: Callable[[], T], patience: float) -> T:
        """Run a job and wait for it, at most `patience` seconds; after them it is done later, or never.

        For threads that may wait, never on the event loop. Raises what the job raises, and `DeviceUnavailable`.
        """
        future = self.submit(job)
        try:
            return future.result(patience)
        except TimeoutError as error:
            future.cancel()
            raise _silent() from error

    def _work(self) -> None:
        while True:
            future, job = self._jobs.get()
            if not future.set_running_or_notify_cancel():
                continue
            self._is_at_work = True
            try:
                future.set_result(job())
            except BaseException as error:  # noqa: BLE001  as every executor does: whoever waits is told
                future.set_exception(error)
            finally:
                self._is_at_work = False
                # A thread that waits for work must not keep the last one's parts alive.
                del future, job


def _silent() -> DeviceUnavailable:
    return DeviceUnavailable(f"the sound system does not answer; {what_fixes_silence()}")


class Stream(Protocol):
    """An open stream. Called on the sound thread."""

    def is_idle(self) -> bool:
        """Whether nobody would miss it for a moment."""

    def give_up(self) -> None:
        """Close it; its owner notices, and opens it again."""


class DeviceList:
    """Refreshes PortAudio's list of devices, which it reads once: a refresh ends every open stream.

    All methods but `expect_change` are called on the sound thread.
    """

    def __init__(self, cards: Path = CARDS, clock: Callable[[], float] = time.monotonic) -> None:
        self._cards = cards
        self._seen = self._hardware()
        self._open: list[Stream] = []
        self._forcing = Backoff(SOONEST_FORCED, LATEST_FORCED, clock=clock)
        self._allowed = 0
        """Readings that a change told by the system allows, though idle streams are given up for them."""
        self._clock = clock
        self._read_at = -inf
        """Seconds on the clock of the last reading."""
        self._is_initialized = True
        """By the import; no more where it could not be, after it had been ended to read the list anew."""

    def opened(self, stream: Stream) -> None:
        """Take note of a stream that lives from now on."""
        self._open.append(stream)

    def closed(self, stream: Stream) -> None:
        """Take note that it lives no more; safe to call for one that is not known."""
        if stream in self._open:
            self._open.remove(stream)

    def expect_change(self) -> None:
        """Take note that the system told of a change; on any thread."""
        self._allowed = LOOKS_A_CHANGE

    def imported(self) -> None:
        """Take note that the import of the module read the list just now: who looks first need not read it again."""
        self._seen, self._read_at = self._hardware(), self._clock()

    def refresh(self, module: PortAudioModule, *, is_missing: bool = False) -> bool:
        """Read the list anew if that costs nobody a stream, or if hardware came or went; return whether it is new.

        Where a wanted device `is_missing` (a sound server's devices come and go without a change of hardware), idle
        streams are given up for it too: after a change that the system told of, else ever less often. Whoever loses a
        stream opens it again. Raises the module's `PortAudioError` when it cannot be opened again; the next call tries
        that once more.
        """
        hardware = self._hardware()
        if self._open and hardware == self._seen and not (is_missing and self._may_force()):
            return False
        is_fresh = self._is_initialized and self._clock() - self._read_at < FRESH_SECONDS
        if is_fresh and not self._open and hardware == self._seen:
            self._allowed = max(0, self._allowed - 1)
            return True
        for stream in tuple(self._open):
            stream.give_up()
            self.closed(stream)
        if hardware != self._seen:
            self._forcing.worked()
        self._seen, self._allowed = hardware, max(0, self._allowed - 1)
        if self._is_initialized:
            module._terminate()
            self._is_initialized = False
        module._initialize()
        self._is_initialized = True
        self._read_at = self._clock()
        return True

    def _may_force(self) -> bool:
        if not all(stream.is_idle() for stream in self._open):
            return False
        if self._allowed:
            return True
        if self._forcing.rest:
            return False
        self._forcing.failed()
        return True

    def _hardware(self) -> str:
        try:
            return self._cards.read_text()
        except OSError:
            return ""


SOUND_THREAD: Final = SoundThread()
"""PortAudio has one state a process, so there is one thread for it."""

LAST_SECONDS: Final = 3.0
"""How long the exit of the process waits for a call that is under way."""


def finish(thread: SoundThread, seconds: float = LAST_SECONDS) -> None:
    """Let a call that is under way come back: the process crashes now and then when Python ends beneath it.

    One that hangs is left behind: it stays where it is, and touches nothing of Python's.
    """
    if thread.is_at_work:
        with suppress(DeviceUnavailable):
            thread.call(lambda: None, seconds)


atexit.register(finish, SOUND_THREAD)

DEVICES: Final = DeviceList()


def exit_without_hanging(module: ModuleType) -> None:
    """Keep sounddevice from ending PortAudio at the exit of the process while a call into it hangs: that would too."""

    def forget() -> None:
        if SOUND_THREAD.is_at_work:
            atexit.unregister(module._exit_handler)

    atexit.register(forget)


def mute_alsa() -> None:
    """Keep ALSA from writing lines to stderr, a dozen for each try to open what is gone; errors are raised anyway."""
    import ctypes

    try:
        alsa, libc = ctypes.CDLL("libasound.so.2"), ctypes.CDLL(None)
    except OSError:
        return
    # ALSA's own threads call the handler, also while Python ends: a C function without effect stays valid, a Python
    # callback would not.
    alsa.snd_lib_error_set_handler(libc.getpid)
