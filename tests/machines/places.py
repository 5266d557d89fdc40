"""Ears and a mind at two places, bare: words to a mailbox, and the sentences of an answer back, over an engine.

`python -m tests.machines.places mind URL FOLDER` and `… ears URL` are the two as programs, `… alone FOLDER` is both in
one. The ears read how many sentences each answer is to have, a line for each turn, and print each sentence with the
seconds from its words to its first sound.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Final

from agent.event import USER_TEXT, Event, from_json, to_json
from agent.mailbox import SCHEMA, Mailbox
from audio.tts.programs import EspeakSynthesizer
from memory.engine.access import Login, engine_at
from memory.engine.interface import Engine, Inbox
from memory.errors import EngineUnreachable, OutcomeUnknown
from memory.state.database import Database
from tests.room.virtual_time import passed

MIND: Final = "mind"
EARS: Final = "ears"
ALONE: Final = "alone"
TRY_AGAIN: Final = 0.2
"""Seconds."""

Say = Callable[[str, str], Awaitable[None]]
"""Takes the id of a sentence, which is its event's and its number, and its words; returns once it will be spoken."""


async def put(inbox: Inbox, message: bytes, id_: str) -> None:
    """Put a message however long the engine is away; the engine knows the id, so that it is there once."""
    while True:
        try:
            return await inbox.put(message, id=id_)
        except (EngineUnreachable, OutcomeUnknown):
            await passed(TRY_AGAIN)


async def taken(inbox: Inbox, take: Callable[[str, bytes], Awaitable[None]]) -> None:
    """Give what comes to `take`, which knows an id that came before, and acknowledge it; until cancelled."""
    while True:
        delivery = await inbox.take()
        await take(delivery.id, delivery.message)
        try:
            await delivery.ack()
        except (EngineUnreachable, OutcomeUnknown):
            continue  # it comes again


@dataclass
class Mind:
    """Takes events into a mailbox, and answers each with as many sentences as it asks for."""

    mailbox: Mailbox
    say: Say
    came: list[str] = field(default_factory=list)
    """Ids of the events in the order in which the mailbox took them."""

    async def take(self, id_: str, message: bytes) -> None:
        if await self.mailbox.enqueue(from_json(message.decode())):
            self.came.append(id_)

    async def answer(self) -> None:
        """Answer one event after the other, until cancelled."""
        while True:
            event = (await self.mailbox.take()).event
            for number in range(1, int(event.content) + 1):
                await self.say(f"{event.id}-{number}", f"This is sentence {number} of the answer.")
            await self.mailbox.complete(event.id, "answered", {})


@dataclass
class Ears:
    """Knows which sentences were spoken, and speaks each once."""

    speak: Callable[[str, str], Awaitable[None]]
    spoken: list[str] = field(default_factory=list)

    async def take(self, id_: str, message: bytes) -> None:
        if id_ not in self.spoken:
            self.spoken.append(id_)
            await self.speak(id_, message.decode())


async def mind(url: str, folder: Path) -> None:
    """Be the mind, until killed."""
    engine, database = engine_at(url, "places", Login()), Database(folder / "nakari.db")
    await database.open(SCHEMA)
    back = engine.inbox(EARS)
    here = Mind(Mailbox(database), lambda id_, words: put(back, words.encode(), id_))
    async with asyncio.TaskGroup() as group:
        group.create_task(taken(engine.inbox(MIND), here.take))
        group.create_task(here.answer())


async def ears(engine: Engine) -> None:
    """Be the ears, until standard input ends."""
    began: dict[str, float] = {}
    here = Ears(sounding(began))
    async with asyncio.TaskGroup() as group:
        speaking = group.create_task(taken(engine.inbox(EARS), here.take))
        async for event in turns(began):
            await put(engine.inbox(MIND), to_json(event).encode(), event.id)
        speaking.cancel()


async def alone(folder: Path) -> None:
    """Be both in one process, until standard input ends: what the two are compared with."""
    began: dict[str, float] = {}
    database, here = Database(folder / "nakari.db"), Ears(sounding(began))
    await database.open(SCHEMA)
    mailbox = Mailbox(database)
    both = Mind(mailbox, lambda id_, words: here.take(id_, words.encode()))
    async with asyncio.TaskGroup() as group:
        answering = group.create_task(both.answer())
        async for event in turns(began):
            await mailbox.enqueue(event)
        answering.cancel()
    await database.close()


async def turns(began: dict[str, float]) -> AsyncIterator[Event]:
    """Yield an event for each line of standard input, and note when it was there."""
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while line := await lines.readline():
        event = Event(USER_TEXT, line.decode().strip())
        began[event.id] = monotonic()
        yield event


def sounding(began: dict[str, float]) -> Callable[[str, str], Awaitable[None]]:
    """Return what makes sound of a sentence, and prints when the first of it was there."""
    voice = EspeakSynthesizer()

    async def speak(id_: str, words: str) -> None:
        async with aclosing(voice.speak(words, "en")) as sound:
            await anext(sound)
        event, _, number = id_.partition("-")
        sys.stdout.write(f"{event} {number} {monotonic() - began[event]:.4f}\n")
        sys.stdout.flush()

    return speak


async def _run(role: str, where: str, *rest: str) -> None:
    if role == MIND:
        return await mind(where, Path(rest[0]))
    if role == ALONE:
        return await alone(Path(where))
    engine = engine_at(where, "places", Login())
    try:
        await ears(engine)
    finally:
        await engine.close()


if __name__ == "__main__":
    asyncio.run(_run(*sys.argv[1:]))
