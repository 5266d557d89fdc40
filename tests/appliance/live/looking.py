"""Somebody who looks on, over a real mind, bus and journal; each message is held against the published schema."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Unpack

from jsonschema import Draft202012Validator

from agent.event import HOUSEHOLD
from appliance.live.live import Live, Room
from appliance.live.readers import Packet, Reader, Readers
from appliance.live.senses import Meter
from memory.state.journal import Journal, Selection, Stored, Written
from tests.agent.mind import PATIENCE, TestMind
from tests.architecture.protocol import SCHEMA

Told = dict[str, Any]
"""A message as a client reads it."""

_SCHEMA: Final = json.loads(SCHEMA.read_text(encoding="utf-8"))
_VALIDATOR: Final = Draft202012Validator({**_SCHEMA, **_SCHEMA["$defs"]["ServerMessage"]})


def valid(text: str) -> Told:
    """Return a message; it is what the published JSON Schema says."""
    message: Told = json.loads(text)
    _VALIDATOR.validate(message)
    return message


@dataclass
class ARoom:
    """A room whose switches a test sets."""

    meter: Meter = field(default_factory=Meter)
    listens: bool = True
    muted: bool = False

    def room(self) -> Room:
        return Room(self.meter, lambda: self.listens, lambda: self.muted)


class SlowJournal(Journal):
    """A journal of which something happens while it is read for the first time."""

    def __init__(self, journal: Journal, meanwhile: Callable[[], Awaitable[None]]) -> None:
        self._journal = journal
        self._meanwhile = [meanwhile]

    async def entries(self, **which: Unpack[Selection]) -> list[Stored]:
        found = await self._journal.entries(**which)
        while "after" in which and self._meanwhile:
            await self._meanwhile.pop()()
        return found

    def observe(self, observer: Written) -> None:
        self._journal.observe(observer)


@asynccontextmanager
async def a_live(mind: TestMind, room: ARoom | None = None, journal: Journal | None = None) -> AsyncIterator[Live]:
    """Follow a mind."""
    live = Live(mind.mind.bus, journal or mind.journal, mind.mailbox, (room or ARoom()).room(), Readers())
    async with asyncio.TaskGroup() as group:
        loops = [group.create_task(loop()) for loop in live.loops().values()]
        try:
            yield live
        finally:
            for loop in loops:
                loop.cancel()


class Look:
    """What one reader was told."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self.told: list[Told] = []

    async def until(self, name: str, **payload: object) -> list[Told]:
        """Read until a message of this name, and with this in its payload; return what came, levels left out."""
        async with asyncio.timeout(PATIENCE):
            while True:
                for at, message in enumerate(self.told):
                    if message["event"] == name and payload.items() <= message["payload"].items():
                        found, self.told = self.told[: at + 1], self.told[at + 1 :]
                        return found
                self._take(await self._reader.take(PATIENCE))

    def _take(self, packets: list[Packet]) -> None:
        self.told += [valid(packet.json) for packet in packets if packet.name != "levels"]


@asynccontextmanager
async def a_look(live: Live, owner_key: str = HOUSEHOLD, after: int | None = None) -> AsyncIterator[Look]:
    async with live.reading(owner_key, after) as reader:
        yield Look(reader)


def names(messages: list[Told], *but: str) -> list[str]:
    """Return what the messages are, in order, but for the state, the mailbox and the named."""
    return [each["event"] for each in messages if each["event"] not in {"state", "mailbox", *but}]


def payloads(messages: list[Told], name: str) -> list[Mapping[str, Any]]:
    return [each["payload"] for each in messages if each["event"] == name]


def joined(messages: list[Told]) -> str:
    """Return the words of all replies, as their chunks join."""
    return "".join(payload["chunk"] for payload in payloads(messages, "text_chunk"))


def where(messages: list[Told], meets: Callable[[Told], bool]) -> Told:
    return next(message for message in messages if meets(message))
