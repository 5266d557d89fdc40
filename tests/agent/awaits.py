"""Every point at which a run can be cancelled: a coroutine driven by hand, which counts where it lets others run."""

import asyncio
from collections.abc import Callable, Coroutine, Generator
from typing import Any, TypeVar

T = TypeVar("T")


class Points:
    """Counts the awaits of a run, and does something once, at the one that is chosen."""

    def __init__(self, chosen: int, action: Callable[[], object]) -> None:
        self.count = 0
        self._chosen = chosen
        self._action = action

    def reached(self) -> None:
        """Count one."""
        self.count += 1
        if self.count == self._chosen:
            self._action()

    async def passed(self) -> None:
        """Let others run at a point inside a tool."""
        self.reached()
        await asyncio.sleep(0)


class Counted:
    """Awaits a coroutine as `await` would, and counts each moment at which it has to wait."""

    def __init__(self, coroutine: Coroutine[Any, Any, T], points: Points) -> None:
        self._coroutine = coroutine
        self._points = points

    def __await__(self) -> Generator[Any, Any, None]:
        thrown: BaseException | None = None
        while True:
            try:
                waits_for = self._coroutine.send(None) if thrown is None else self._coroutine.throw(thrown)
            except StopIteration:
                return
            self._points.reached()
            thrown = None
            try:
                yield waits_for
            except BaseException as error:  # noqa: BLE001  it is thrown into the coroutine, as await does
                thrown = error
