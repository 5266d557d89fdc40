"""A process that works on a mailbox, says what was acknowledged, and dies where it is told to."""

import asyncio
import os
import signal
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn, TypeVar

from agent.event import Event
from agent.mailbox import SCHEMA, Mailbox, Wake
from memory.state.database import Database
from tests.agent.clock import Clock

T = TypeVar("T")


class DyingDatabase(Database):
    """Kills its process with signal 9 at one point of its nth write: before, inside, or after the commit."""

    def __init__(self, path: Path, at: int, point: str) -> None:
        super().__init__(path)
        self._writes_left = at
        self._point = point

    async def write(self, change: Callable[[sqlite3.Connection], T], *, durable: bool = True) -> T:
        self._writes_left -= 1
        point = self._point if self._writes_left == 0 else ""
        if point == "before":
            die()

        def dying(connection: sqlite3.Connection) -> T:
            value = change(connection)
            if point == "inside":
                die()
            return value

        value = await super().write(dying, durable=durable)
        if point == "after":
            die()
        return value


def die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("nobody survives this signal")


def say(line: str) -> None:
    os.write(1, f"{line}\n".encode())


def event(name: str, priority: int = 0) -> Event:
    return Event("work", name, id=name, priority=priority)


async def life(mailbox: Mailbox) -> None:
    """Go through every step of a mailbox once: eleven writes."""
    clock = Clock()
    await mailbox.enqueue(event("a"))
    say("enqueued a")
    await mailbox.enqueue(event("b", priority=10))
    say("enqueued b")
    for name in ("b", "a"):
        assert (await mailbox.take()).event.id == name
        say(f"took {name}")
        await mailbox.charge(name, tool_calls=1)
        say(f"charged {name}")
        if name == "b":
            await mailbox.complete(name, "done", {})
            say("completed b")
    await mailbox.enqueue(event("c"))
    say("enqueued c")
    await mailbox.suspend("a", "half done", Wake("time", clock.after(0)))
    say("suspended a")
    await mailbox.take()
    say("took c")
    await mailbox.fail("c", "impossible")
    say("failed c")


async def flood(mailbox: Mailbox) -> None:
    """Enqueue from four sides, and take and complete beside it, until somebody kills the process."""

    async def fill(side: int) -> None:
        place = 0
        while True:
            await mailbox.enqueue(event(f"{side}.{place}", priority=side))
            say(f"enqueued {side}.{place}")
            place += 1

    async def empty() -> None:
        while True:
            hand = await mailbox.take()
            await mailbox.complete(hand.event.id, "", {})
            say(f"completed {hand.event.id}")

    async with asyncio.TaskGroup() as together:
        for side in range(4):
            together.create_task(fill(side))
        together.create_task(empty())


async def main(path: str, at: str, point: str) -> None:
    database = DyingDatabase(Path(path), int(at), point)
    await database.open(SCHEMA)
    mailbox = Mailbox(database, Clock())
    await (flood(mailbox) if point == "flood" else life(mailbox))
    await database.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
