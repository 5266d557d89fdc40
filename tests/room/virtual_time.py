"""An event loop on virtual time: it jumps to the next timer while nothing real is under way, and stands still else."""

import asyncio
import selectors
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Executor
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

EPOCH: Final = 1000.0
"""Seconds on the virtual clock at the start: not 0, which says "never" in many places."""

RESOLUTION: Final = 1e-6
"""Seconds, the loop's own: a real clock's 1e-9 is lost in a float after half a year, and timers then never are due."""

REAL_PATIENCE: Final = 20.0
"""Real seconds that a job, a program or a descriptor may take before the loop says what it waits for."""


class NothingHappens(Exception):
    """The loop waits for something that will never come; in a test that is a mistake, and not to be waited out."""


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """An event loop whose `time()` is virtual: timers cost no real time, worker threads and programs no virtual time.

    While a job of `run_in_executor` (so also `asyncio.to_thread`) or a child process is under way, virtual time stands
    still; its end is told after `job_seconds[name of the function]` of virtual time, at once for a name that is not in
    there. Everything runs in one deterministic order, but for jobs that run beside each other.
    """

    def __init__(self, job_seconds: Mapping[str, float] | None = None, patience: float = REAL_PATIENCE) -> None:
        self._selector_of_time = _VirtualSelector(self._is_busy, patience)
        self._job_seconds = job_seconds or {}
        self._jobs = 0
        """In worker threads, not yet told."""
        self._children: list[asyncio.SubprocessTransport] = []
        super().__init__(self._selector_of_time)
        self._clock_resolution = RESOLUTION

    def time(self) -> float:
        """Return seconds on the virtual clock."""
        return self._selector_of_time.now

    def run_in_executor(  # type: ignore[override]  # typeshed's own is an overload with *args
        self, executor: Executor | None, function: Callable[..., T], *arguments: Any
    ) -> asyncio.Future[T]:
        """Run the job in a real thread; virtual time stands still until its end."""
        self._jobs += 1
        inner = super().run_in_executor(executor, function, *arguments)
        inner.add_done_callback(self._job_ended)
        seconds = self._job_seconds.get(_name_of(function, arguments), 0.0)
        return self._later(inner, seconds) if seconds else inner

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:  # noqa: ASYNC109 # asyncio's own
        """Wait for the worker threads as long as it takes: a timer, as newer Pythons set one, would be due at once."""
        await super().shutdown_default_executor()

    async def _make_subprocess_transport(self, *arguments: Any, **options: Any) -> asyncio.SubprocessTransport:
        transport: asyncio.SubprocessTransport = await super()._make_subprocess_transport(  # type: ignore[misc]
            *arguments, **options
        )
        self._children.append(transport)
        return transport

    def _is_busy(self) -> bool:
        """Whether something real is under way, for which virtual time has to wait."""
        self._children = [child for child in self._children if not _has_ended(child)]
        return self._jobs > 0 or bool(self._children)

    def _job_ended(self, job: asyncio.Future[T]) -> None:
        self._jobs -= 1

    def _later(self, inner: asyncio.Future[T], seconds: float) -> asyncio.Future[T]:
        """Return a future that has the result of `inner` so much virtual time after it."""
        outer: asyncio.Future[T] = self.create_future()

        def pass_on() -> None:
            if outer.cancelled():
                return
            if inner.cancelled():
                outer.cancel()
            elif error := inner.exception():
                outer.set_exception(error)
            else:
                outer.set_result(inner.result())

        inner.add_done_callback(lambda _: self.call_later(seconds, pass_on))
        return outer


class _VirtualSelector(selectors.DefaultSelector):
    """Waits for real descriptors while something real is under way; else moves the clock by the time it would wait."""

    def __init__(self, is_busy: Callable[[], bool], patience: float) -> None:
        super().__init__()
        self._patience = patience
        self.now = EPOCH
        """Seconds on the virtual clock."""
        self._is_busy = is_busy

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Return what is ready at once; wait for it only where virtual time cannot go on without it."""
        if ready := super().select(0):
            return ready
        if timeout is not None and (timeout <= 0 or not self._is_busy()):
            self.now += max(timeout, 0.0)
            return []
        if ready := super().select(self._patience):
            return ready
        raise NothingHappens("no timer is set, and no job, program or descriptor stirs: something waits for ever")


def now() -> float:
    """Return the seconds of the running loop's clock."""
    return asyncio.get_running_loop().time()


async def until(at: float) -> None:
    """Return at a moment of the loop's clock, seconds; at once when it has passed."""
    loop = asyncio.get_running_loop()
    rung: asyncio.Future[None] = loop.create_future()
    timer = loop.call_at(at, rung.set_result, None)
    try:
        await rung
    finally:
        timer.cancel()


async def passed(seconds: float) -> None:
    """Return after so much time of the loop's clock."""
    await until(now() + seconds)


def run_virtually(
    main: Coroutine[Any, Any, T], job_seconds: Mapping[str, float] | None = None, patience: float = REAL_PATIENCE
) -> T:
    """Run a coroutine to its end in virtual time, on a loop of its own, and return what it returns."""
    with asyncio.Runner(loop_factory=lambda: VirtualTimeLoop(job_seconds, patience)) as runner:
        return runner.run(main)


def in_virtual_time(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Run a test in virtual time: a busy machine makes nothing later in it. Its clock is the running loop's."""

    @wraps(test)
    def run(*given: P.args, **named: P.kwargs) -> None:
        run_virtually(test(*given, **named))

    return run


def _name_of(function: Callable[..., object], arguments: tuple[object, ...]) -> str:
    """Return the name of what a job runs; `asyncio.to_thread` hides it in a partial of `Context.run`."""
    for inner in (function, *getattr(function, "args", ()), *arguments):
        name = getattr(inner, "__name__", "")
        if name and name != "run":
            return str(name)
    return ""


def _has_ended(child: asyncio.SubprocessTransport) -> bool:
    """Whether the program has ended and was told to; its pipes then are at their end too, and read at once."""
    return child.get_returncode() is not None or child.is_closing()
