"""Ears and mind over an engine in memory, for hours of virtual time: partitions, cuts, deaths, doubles."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TypeAlias

import pytest

from agent.event import USER_TEXT, Event, to_json
from agent.mailbox import SCHEMA, Mailbox
from memory.state.database import Database
from tests.engine_fake import FakeEngine, FakeServer
from tests.machines.places import EARS, MIND, Ears, Mind, put, taken
from tests.room.virtual_time import passed, run_virtually

pytestmark = pytest.mark.shows("H10", "A23")

SENTENCES = 3
MINUTE = 60.0


class House:
    """Ears and a mind, each with a way of its own to one server."""

    def __init__(self, mailbox: Mailbox) -> None:
        self.server = FakeServer()
        self.at_ears, self.at_mind = FakeEngine(self.server), FakeEngine(self.server)
        self.said: list[Event] = []
        self.mind = Mind(mailbox, lambda id_, words: put(self.at_mind.inbox(EARS), words.encode(), id_))
        self.ears = Ears(self._speak)
        self._kept = asyncio.Queue[Event](10_000)
        """What was said, until the engine has it."""

    async def _speak(self, id_: str, words: str) -> None:
        await passed(1.0)

    def say(self) -> None:
        """Say something that is answered with three sentences."""
        self.said.append(Event(USER_TEXT, str(SENTENCES)))
        self._kept.put_nowait(self.said[-1])

    async def hand_over(self) -> None:
        while True:
            event = await self._kept.get()
            await put(self.at_ears.inbox(MIND), to_json(event).encode(), event.id)

    async def all_spoken(self) -> None:
        """Wait, an hour at most, until the last sentence of the last answer was spoken."""
        async with asyncio.timeout(60 * MINUTE):
            while len(self.ears.spoken) < SENTENCES * len(self.said):
                await passed(1.0)

    def check(self) -> None:
        """All that was said came, in order and once, and so did each sentence of each answer."""
        ids = [event.id for event in self.said]
        assert self.mind.came == ids
        assert self.ears.spoken == [f"{id_}-{number}" for id_ in ids for number in range(1, SENTENCES + 1)]


@asynccontextmanager
async def house(folder: Path) -> AsyncIterator[House]:
    """Open a house, and run what runs in it."""
    database = Database(folder / "nakari.db")
    await database.open(SCHEMA)
    house = House(Mailbox(database))
    for engine in (house.at_ears, house.at_mind):
        await engine.open()
    loops = (
        house.hand_over(),
        house.mind.answer(),
        taken(house.at_mind.inbox(MIND), house.mind.take),
        taken(house.at_ears.inbox(EARS), house.ears.take),
    )
    async with asyncio.TaskGroup() as group:
        running = [group.create_task(loop) for loop in loops]
        yield house
        for task in running:
            task.cancel()
    await database.close()


Story: TypeAlias = Callable[[House], Awaitable[None]]


def lived(folder: Path, story: Story) -> None:
    """Live a story in virtual time, and look whether anything was lost, out of its order, or twice."""

    async def live() -> None:
        async with house(folder) as home:
            await story(home)
            await home.all_spoken()
            await passed(2 * MINUTE)  # what comes twice has come by then
            home.check()

    run_virtually(live())


@pytest.mark.parametrize("away", ["ears", "mind", "server"])
def test_what_is_said_in_a_partition_of_ten_minutes_comes_in_order_after_it(tmp_path: Path, away: str) -> None:
    async def story(home: House) -> None:
        link = {"ears": home.at_ears.link, "mind": home.at_mind.link}.get(away)
        home.say()
        await passed(0.5)  # in the middle of the reply
        home.server.kill() if link is None else link.cut()
        for _ in range(20):
            home.say()
            await passed(30.0)
        home.server.start() if link is None else link.mend()

    lived(tmp_path, story)


async def harm(home: House, chance: random.Random) -> None:
    """Do the network, or the server, one harm for a while."""
    link = chance.choice((home.at_ears.link, home.at_mind.link))
    harms: list[Callable[[], object]] = [link.cut, home.server.kill, home.server.freeze]
    harms += [partial(setattr, link, "delay", chance.uniform(0.1, 4.0))]  # longer than a call may take
    harms += [partial(setattr, link, name, 3) for name in ("lose_requests", "lose_answers", "double")]
    chance.choice(harms)()
    await passed(chance.expovariate(1 / 8.0))
    home.server.start()
    home.server.thaw()
    for each in (home.at_ears.link, home.at_mind.link):
        each.mend()
        each.delay = 0.02


@pytest.mark.parametrize("seed", range(4))
def test_an_hour_of_cuts_loses_nothing_keeps_the_order_and_doubles_nothing(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)

    async def talk(home: House) -> None:
        for _ in range(120):
            home.say()
            await passed(chance.expovariate(1 / 30.0))

    async def story(home: House) -> None:
        async with asyncio.TaskGroup() as group:
            talking = group.create_task(talk(home))
            while not talking.done():
                await passed(chance.expovariate(1 / 10.0))
                await harm(home, chance)

    lived(tmp_path, story)
