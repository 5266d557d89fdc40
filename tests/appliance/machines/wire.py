"""Machines, an engine and what lies between them, in virtual time: cut, slow, doubled, frozen, with clocks that lie."""

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeVar

from memory.engine.interface import DEADLINE, READ_LIMIT, KeyEntry, LogRecord
from memory.errors import EngineUnreachable, KeyMoved, LogMoved, OutcomeUnknown
from tests.room.virtual_time import passed, until

T = TypeVar("T")

SLOW: Final = 4.0
"""Seconds a delayed message takes at most: longer than a call waits for it."""


@dataclass
class Server:
    """The engine itself: what reaches it is done at once and whole."""

    keys: dict[str, KeyEntry] = field(default_factory=dict)
    log: list[LogRecord] = field(default_factory=list)
    revision: int = 0

    def get(self, key: str) -> KeyEntry | None:
        """Return a key as it is."""
        return self.keys.get(key)

    def set(self, key: str, value: bytes, revision: int) -> int:
        """Set a key that is at a revision, 0 for none. Raises `KeyMoved`."""
        found = self.keys.get(key)
        if (found.revision if found else 0) != revision:
            raise KeyMoved("moved")
        self.revision += 1
        self.keys[key] = KeyEntry(key, value, self.revision)
        return self.revision

    def append(self, record: bytes, after: int, id: str) -> int:
        """Append at a position. Raises `LogMoved`."""
        if len(self.log) > after and self.log[after].id == id:
            return after + 1
        if len(self.log) != after:
            raise LogMoved("moved", len(self.log))
        self.log.append(LogRecord(after + 1, id, record))
        return after + 1


@dataclass
class Machine:
    """One machine: its clock, its cable, and whether it stands still; a Keys and as much of a Log as leading takes."""

    name: str
    server: Server
    chance: random.Random
    rate: float = 1.0
    """Of its clock, against the true one."""
    jumped: float = 0.0
    """Seconds that its clock is off."""
    is_cut: bool = False
    is_slow: bool = False
    runs: asyncio.Event = field(default_factory=asyncio.Event)
    """Not set while the machine is frozen."""

    def clock(self) -> float:
        """Return what this machine takes for the time, seconds."""
        return asyncio.get_running_loop().time() * self.rate + self.jumped

    async def rest(self, seconds: float) -> None:
        """Rest by its own clock; a frozen one rests on."""
        await passed(seconds / self.rate)
        await self.runs.wait()

    async def get(self, key: str) -> KeyEntry | None:
        """Ask the server, as `Keys.get`."""
        return await self._ask(lambda: self.server.get(key), EngineUnreachable)

    async def create(self, key: str, value: bytes) -> int:
        """Ask the server, as `Keys.create`."""
        return await self.update(key, value, revision=0)

    async def update(self, key: str, value: bytes, *, revision: int) -> int:
        """Ask the server, as `Keys.update`."""
        return await self._ask(lambda: self.server.set(key, value, revision), OutcomeUnknown)

    async def append(self, record: bytes, *, after: int, id: str) -> int:
        """Ask the server, as `Log.append`."""
        return await self._ask(lambda: self.server.append(record, after, id), OutcomeUnknown)

    async def read(self, after: int, limit: int = READ_LIMIT) -> Sequence[LogRecord]:
        """Ask the server, as `Log.read`."""
        return await self._ask(lambda: self.server.log[after : after + limit], EngineUnreachable)

    async def _ask(self, do: Callable[[], T], otherwise: type[Exception]) -> T:
        """Send a message, which may come late, twice or never, and wait for the answer, which may be lost."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        if not self.is_cut:
            for _ in range(2 if self.chance.random() < 0.1 else 1):
                loop.call_later(self._delay(), self._arrive, do, answer)
        try:
            async with asyncio.timeout(DEADLINE):
                return await answer
        except TimeoutError:
            raise otherwise("no answer") from None
        finally:
            await self.runs.wait()

    def _arrive(self, do: Callable[[], T], answer: "asyncio.Future[T]") -> None:
        give: Callable[[], None]
        try:
            give = partial(answer.set_result, do())
        except (KeyMoved, LogMoved) as refused:
            give = partial(answer.set_exception, refused)

        def come_back() -> None:
            if not self.is_cut and not answer.done():
                give()

        asyncio.get_running_loop().call_later(self._delay(), come_back)

    def _delay(self) -> float:
        return self.chance.uniform(0, SLOW) if self.is_slow else self.chance.uniform(0.0005, 0.02)


async def trouble(machines: Sequence[Machine], chance: random.Random, end: float) -> None:
    """Do to machines what happens to machines, until a moment of the loop's clock; then let all be well."""
    loop = asyncio.get_running_loop()
    while loop.time() < end:
        machine, kind, seconds = chance.choice(machines), chance.choice(range(5)), chance.choice((1, 4, 7, 15))
        match kind:
            case 0:
                machine.is_cut = True
            case 1:
                machine.is_slow = True
            case 2:
                machine.runs.clear()
            case 3:
                machine.jumped += chance.choice((-3600.0, -5.0, 5.0, 3600.0))
            case _:
                for each in machines:  # the engine is away for all
                    each.is_cut = True
        await until(min(end, loop.time() + seconds * chance.random()))
        if chance.random() < 0.7:
            calm(machines)
        await until(min(end, loop.time() + 8 * chance.random()))
    calm(machines)


def calm(machines: Sequence[Machine]) -> None:
    """Let all cables be whole, and all machines run."""
    for each in machines:
        each.is_cut = each.is_slow = False
        each.runs.set()
