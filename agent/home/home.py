"""The owner of the connection to Home Assistant: connects, knows the house, and connects again with growing delays."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import structlog
from msgspec import Struct

from agent.errors import HomeLost, HomeRefused, TokenRefused, ToolFailed
from agent.home.house import REGISTRIES, House, read_house, spoken_names
from agent.intents.intent import language_of
from agent.tools.mcp.schema import plain
from memory.awaited import Awaited
from memory.backoff import Backoff
from memory.clock import within
from memory.egress import SendsTo, host_of
from memory.json_value import Json, fields

if TYPE_CHECKING:
    from agent.home.connection import Connection

State: TypeAlias = Literal["connecting", "connected", "lost"]

Attend: TypeAlias = "Callable[[Home, Connection], Coroutine[None, None, None]]"
"""Runs beside each connection until that ends."""

MOST_SPOKEN: Final = 80
"""Characters of the house's names in a language for the recognizer, which takes 200 altogether."""

MOST_READING: Final = 10.0
"""Times as long as a reading took it rests before the next: while it starts, thousands of changes come."""

MOST_LOOKED_AT: Final = 50
"""Entities whose states are asked after something was done to them."""

STATE: Final = 100
"""Characters of a state."""

log = structlog.get_logger()


class Pace(Struct, frozen=True):
    """How long the owner waits; seconds."""

    first: float = 1.0
    """Before it connects again."""
    longest: float = 20.0
    """The delay doubles up to it."""
    steady: float = 60.0
    """After a connection that lived so long the next delay is the first again."""
    settle: float = 1.0
    """After a change of the house, before it is read again: changes come in heaps."""
    starting: float = 5.0
    """Between two looks at a Home Assistant that is still starting."""
    answers: float = 10.0
    """For the answer to a question."""
    patience: float = 3.0
    """That a question waits for a connection that is being made."""
    refused: float = 900.0
    """After a token was refused: each try is told there as an attack, and may ban this machine."""


PACE: Final = Pace()


class Home(Awaited[State]):
    """Keeps Home Assistant connected, and the house known. `run` is its one task."""

    def __init__(self, url: str, token: str, pace: Pace = PACE, attend: Sequence[Attend] = ()) -> None:
        """`url` is its address, e.g. http://192.168.1.5:8123; `attend` runs beside each connection."""
        super().__init__("connecting", "it is being connected")
        self.url = url.rstrip("/")
        self._token = token
        self._pace = pace
        self._attend = attend
        self._backoff = Backoff(pace.first, pace.longest, steady=pace.steady)
        self._observers: list[Callable[[], None]] = []
        self._changed = asyncio.Event()
        self._connection: Connection | None = None
        self.fix = ""
        """What to do about the reason, for a person."""
        self.losses = 0
        self.house: House | None = None
        """What is in the house as far as it is known; None before the first connection. It stays while it is away."""

    @property
    def sends_to(self) -> tuple[SendsTo, ...]:
        """What is asked of the house, and what nobody here understands."""
        return (SendsTo("what is asked of the house, and without a model what is not understood", host_of(self.url)),)

    async def run(self) -> None:
        """Connect, and connect again, until cancelled. Raises nothing else."""
        connected = await asyncio.to_thread(_adapter)
        while True:
            try:
                await self._keep_connected(connected)
            except* HomeLost as lost:
                self._mark_lost(_first(lost))
            await asyncio.sleep(self._backoff.rest)

    async def ask(self, kind: str, **more: Json) -> Json:
        """Send a command over its WebSocket and return the result.

        Raises `ToolFailed` in a sentence; takes no time while it is away, and a moment while it is first connected.
        """
        connection = await self._reached()
        try:
            return await connection.ask(kind, **more)
        except HomeLost as lost:
            raise ToolFailed(f"Home Assistant: {lost} before it answered; look whether it was done") from lost

    async def known(self, *, anew: bool = False) -> House | None:
        """Return what is in the house, read `anew` where that is asked; None while nobody can tell."""
        with suppress(ToolFailed):
            await self._reached()
            if anew:
                self._know(await read_house(self.ask))
        return self.house if self._connection is not None else None

    async def states_of(self, *ids: str) -> dict[str, str]:
        """Return the states of entities by their ids, those that there are. Raises as `ask` does."""
        heard = list[Mapping[str, Json]]()
        connection = await self._reached()
        try:
            number = await connection.subscribe(heard.append, "subscribe_entities", entity_ids=[*ids])
            await connection.unsubscribe(number)
        except HomeLost as lost:
            raise ToolFailed(f"Home Assistant: {lost}") from lost
        there = fields(heard[0].get("a")) if heard else {}
        return {one: plain(told.get("s"), STATE) for one, told in there.items() if isinstance(told, dict)}

    async def absent(self, ids: Sequence[str]) -> list[str]:
        """Return the names of those whose devices nobody can reach now: what is told to them is answered as done."""
        if not ids:
            return []
        with suppress(ToolFailed):
            house = self.house or House()
            states = await self.states_of(*ids[:MOST_LOOKED_AT])
            away = (one for one, state in states.items() if state == "unavailable")
            return [house.entities[one].name if one in house.entities else one for one in away]
        return []

    async def names(self) -> Sequence[str]:
        """Return names of the house that people say, the areas first: few of a language, for there are others too."""
        kept, left = list[str](), {"en": MOST_SPOKEN, "zh": MOST_SPOKEN}
        for name in dict.fromkeys(spoken_names(self.house or House())):
            left[language_of(name)] -= len(name) + 2
            if left[language_of(name)] >= 0:
                kept.append(name)
        return kept

    def observe(self, changed: Callable[[], None]) -> None:
        """Call somebody on the event loop from now on when the house has changed; it has to return at once."""
        self._observers.append(changed)

    def describe(self) -> dict[str, Json]:
        """Return how it is, for the status and the doctor."""
        told: dict[str, Json] = {"state": self.state, "losses": self.losses}
        if self.house is not None:
            told["entities"] = len(self.house.entities)
            if self.house.exposed is not None:
                told["exposed"] = len(self.house.exposed)
        return told | ({"reason": self.reason, "fix": self.fix} if self.reason else {})

    async def _reached(self) -> "Connection":
        if self.state == "connecting":
            await within(self._pace.patience, self._entered["connected"])
        if self._connection is None:
            raise ToolFailed(f"unavailable: Home Assistant: {self.reason}")
        return self._connection

    async def _keep_connected(self, connected: "Callable[..., AbstractAsyncContextManager[Connection]]") -> None:
        if not self._token:
            raise TokenRefused("there is no token for it")
        try:
            async with connected(self.url, self._token, self._pace.answers) as connection, asyncio.TaskGroup() as group:
                group.create_task(connection.read(), name="home: what it tells")
                await self._learn(connection)
                self._connection = connection
                self._enter("connected", "")
                log.info("home_connected", entities=len(self.house.entities) if self.house else 0)
                for attend in self._attend:
                    group.create_task(attend(self, connection), name="home: what is watched")
                await self._follow(connection)
        finally:
            self._connection = None

    async def _learn(self, connection: "Connection") -> None:
        """Read the house, as soon as it can be told."""
        for registry in REGISTRIES:
            with suppress(HomeRefused):
                kind = f"{registry}_registry_updated"
                await connection.subscribe(lambda _: self._changed.set(), "subscribe_events", event_type=kind)
        while True:
            try:
                return self._know(await read_house(connection.ask))
            except HomeRefused as refused:
                self.fix = ""
                self._enter("connecting", f"it is starting ({refused})")
            await asyncio.sleep(self._pace.starting)

    async def _follow(self, connection: "Connection") -> None:
        """Read the house again when it changes, and as long as it is starting."""
        took = 0.0
        while True:
            is_running = await has_started(connection)
            await within(None if is_running else self._pace.starting, self._changed)
            await asyncio.sleep(max(self._pace.settle, MOST_READING * took))
            self._changed.clear()
            began = time.monotonic()
            with suppress(HomeRefused):
                self._know(await read_house(connection.ask))
            took = time.monotonic() - began

    def _know(self, house: House) -> None:
        self.house = house
        for changed in self._observers:
            changed()

    def _mark_lost(self, lost: HomeLost) -> None:
        delay = self._backoff.failed(self._pace.refused if isinstance(lost, TokenRefused) else 0.0)
        tell = log.debug if (self.state, self.reason) == ("lost", str(lost)) else log.warning  # once, not for ever
        tell("home_lost", reason=str(lost), fix=lost.fix, again_in_seconds=delay)
        self.fix = lost.fix
        self._enter("lost", str(lost))
        self.losses += 1


async def has_started(connection: "Connection") -> bool:
    """Whether it has started whole: before, entities may be missing that will be there."""
    try:
        told = await connection.ask("get_config")
    except HomeRefused:
        return False
    return isinstance(told, dict) and told.get("state", "RUNNING") == "RUNNING"


def _first(lost: ExceptionGroup[HomeLost]) -> HomeLost:
    first = lost.exceptions[0]
    return first if isinstance(first, HomeLost) else _first(first)


def _adapter() -> "Callable[..., AbstractAsyncContextManager[Connection]]":
    """Import the client, which takes a third of a second: in a thread, so that listening does not wait for it."""
    from agent.home.connection import connected

    return connected
