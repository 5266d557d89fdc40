"""Machines of one household in one process, in virtual time: real states and standbys, on an engine in memory."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from appliance.machines.standby.lease import Lease
from appliance.machines.standby.standby import Standby, Term
from appliance.notify import Notifier, Watchdog
from memory.state.replicated import ReplicatedDatabase
from tests.engine_fake import FakeEngine, FakeServer
from tests.room.virtual_time import passed

SCHEMA = "CREATE TABLE IF NOT EXISTS said (n INTEGER PRIMARY KEY, by TEXT NOT NULL);"


class Told(Notifier):
    """Keeps what systemd would be told."""

    def __init__(self) -> None:
        super().__init__("@nobody")
        self.lines: list[str] = []

    def _send(self, *assignments: str) -> None:
        self.lines += assignments


@dataclass
class Machine:
    """One machine, which says a number every second while it leads."""

    name: str
    engine: FakeEngine
    state: ReplicatedDatabase
    told: Told = field(default_factory=Told)
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    terms: list[Term] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    """How each term ended: "asked for", "stopped" or "lost"."""
    pause: float = 1.0
    """Seconds between what it says."""

    async def run(self) -> None:
        """Follow and lead, until stopped."""
        lease = Lease(self.engine.keys, self.name)
        watchdog = Watchdog(self.told, 9.0, ())
        await Standby(self.engine, self.state, lease, watchdog, lambda: None).run(self.lead, self.stop)

    async def lead(self, term: Term) -> None:
        """Say numbers, each once the state has it, as a mind says sentences."""
        self.terms.append(term)
        self.told.ready("listening")
        try:
            while not (term.asked_for.is_set() or self.stop.is_set()):
                await self.say()
                await passed(self.pause)
        except asyncio.CancelledError:
            self.ended.append("lost")
            raise
        self.ended.append("stopped" if self.stop.is_set() else "asked for")

    async def say(self) -> None:
        """Say one more. Raises `Superseded`."""
        with suppress(ConnectionError):
            await self.state.write(lambda c: c.execute("INSERT INTO said (by) VALUES (?)", (self.name,)) and None)

    async def said(self) -> list[str]:
        """Return who said what, as this machine's copy tells."""
        return await self.state.read(lambda c: [row["by"] for row in c.execute("SELECT by FROM said ORDER BY n")])

    @property
    def leads(self) -> bool:
        return len(self.terms) > len(self.ended)


@asynccontextmanager
async def household(folder: Path, *names: str) -> AsyncIterator[list[Machine]]:
    """Have machines of these names, none of which runs yet."""
    server, machines = FakeServer(), []
    for name in names:
        engine = FakeEngine(server)
        await engine.open()
        state = ReplicatedDatabase(folder / name / "nakari.db", engine, household="home", machine=name)
        await state.open(SCHEMA)
        machines.append(Machine(name, engine, state))
    try:
        yield machines
    finally:
        for machine in machines:
            await machine.state.close()


async def until(condition: Callable[[], bool], seconds: float = 60.0) -> float:
    """Return the virtual seconds until something is so; fails after `seconds`."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    async with asyncio.timeout(seconds):
        while not condition():
            await passed(0.05)
    return loop.time() - began
