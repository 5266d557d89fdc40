"""The courier killed at each of its steps, with and without a mind: after the next start each turn arrives once."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agent.bus import Bus
from agent.event import Event, from_json
from agent.mailbox import SCHEMA as MAILBOX
from agent.mailbox import Mailbox
from agent.record import Recorder
from appliance.machines.ears.courier import Courier, MindPresence
from appliance.machines.ears.outbox import Outbox, Owed
from memory.engine.interface import Inbox
from memory.state.database import Database
from memory.state.journal import SCHEMA as JOURNAL
from memory.state.journal import Journal
from tests.engine_fake import FakeEngine, FakeServer
from tests.room.virtual_time import passed, run_virtually

MOST_STEPS = 60


class Died(BaseException):
    """The process was killed here."""


@dataclass
class Deadly(Database):
    """A database that dies before or after a write, as a kill does: what was committed stays."""

    left: int
    after: bool

    def __init__(self, path: Path, left: int, *, after: bool) -> None:
        super().__init__(path)
        self.left, self.after = left, after

    async def write(self, change: Callable[..., Any], *, durable: bool = True) -> Any:
        self.left -= 1
        if self.left == 0 and not self.after:
            raise Died
        done = await super().write(change, durable=durable)
        if self.left == 0:
            raise Died
        return done


@asynccontextmanager
async def ears(folder: Path, server: FakeServer, left: int, *, after: bool) -> AsyncIterator[Courier]:
    """Ears without an agent: what is offered to it stays where it is."""
    engine, database = FakeEngine(server), Deadly(folder / "nakari.db", 0, after=after)
    await engine.open()
    await database.open(JOURNAL, MAILBOX)
    journal, outbox = Journal(database), Outbox(database)
    Bus(Recorder(journal))
    await outbox.open()
    presence = MindPresence(asyncio.get_running_loop().time)
    inbox: Inbox = engine.inbox("mind")
    database.left = left
    courier = Courier(outbox, Mailbox(database), journal, inbox, presence, encoded, lambda event: None)
    try:
        yield courier
    finally:
        await database.close()


def encoded(owed: Owed) -> bytes:
    return owed.body.encode()


async def life(folder: Path, server: FakeServer, left: int, *, after: bool, begins: bool) -> bool:
    """Live until death or the end; say five things, a mind being there for some of them. Whether it died."""
    async with ears(folder, server, left, after=after) as courier:
        died = False
        try:
            async with asyncio.TaskGroup() as group:
                running = [group.create_task(courier.run()), group.create_task(courier.mind.run())]
                if begins:
                    for number in range(5):
                        if number in {1, 2}:
                            courier.mind.heard("server")
                        event = Event("asr_transcript", f"thing {number}", id=f"e{number}", priority=10)
                        await courier.enqueue(event)
                        await passed(6 if number in {0, 3} else 0.5)
                courier.mind.heard("server")
                await passed(2)
                for task in running:
                    task.cancel()
        except* Died:
            died = True
    return died


def arrived(server: FakeServer) -> list[str]:
    return [from_json(put.message.decode()).id for put in server.boxes["mind"].waiting]


@pytest.mark.shows("H10")
@pytest.mark.parametrize("after", [False, True])
def test_a_death_at_any_step_loses_nothing_doubles_nothing_and_keeps_the_order(tmp_path: Path, after: bool) -> None:
    deaths = 0
    for left in range(1, MOST_STEPS):
        folder, server = tmp_path / str(left), FakeServer()
        folder.mkdir()
        died = run_virtually(life(folder, server, left, after=after, begins=True))
        run_virtually(life(folder, server, -1, after=after, begins=False))
        got = arrived(server)
        assert got == sorted(set(got)), (left, got)
        assert got == [f"e{number}" for number in range(len(got))], "nothing that was kept is missing"
        if not died:
            assert len(got) == 5
            break
        deaths += 1
    assert deaths > 15
