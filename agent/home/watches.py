"""What somebody waits for in the house: kept in the mailbox over restarts of either side, and told once."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Final

import structlog
from msgspec import Struct
from msgspec.structs import asdict, replace

from agent.errors import HomeRefused
from agent.event import HOME_WATCH, OUTSIDE, Event, in_room_of, utc_now
from agent.home.home import STATE, Home, has_started
from agent.home.house import House
from agent.mailbox import EventBox
from agent.mailbox.economy import UNASKED
from agent.tools.mcp.schema import plain
from agent.tools.tool import from_outside
from agent.unasked.announcement import ENTITY
from memory.clock import within
from memory.errors import MemoryFailure
from memory.json_value import Json, fields, listed, read_as

if TYPE_CHECKING:
    from agent.home.connection import Connection

MOST_WATCHES: Final = 50
"""Of all owners together."""

LONGEST: Final = timedelta(days=366)
"""After which a watch comes back by itself, with the word that nothing happened."""

PRIORITY: Final = 9
"""Below a person's words (10)."""

LOOK_SECONDS: Final = 30.0
"""Between two looks at which of the watched are there: one that is gone twice is told."""

WATCH: Final = "watch"
"""Key of the metadata: what is waited for; not in the event that tells that it came."""

TELL: Final = "tell"

SOURCE: Final = "home"

_NO_STATE: Final = frozenset({"unavailable", "unknown", "none", ""})
"""What an entity says while its device is away: nothing has come true by that."""

log = structlog.get_logger()


class Watch(Struct, frozen=True):
    """What is waited for."""

    entity: str
    """Its id when it was last seen."""
    registered: str
    """Its name in the registry, by which it is found when it was renamed; "" where it has none."""
    name: str
    begins: str
    """The state it was in."""
    state: str = ""
    """The state that is waited for; "" for any other than the first."""
    above: float | None = None
    below: float | None = None
    """For what is a number: what it has to pass."""

    def has_come(self, state: str) -> bool:
        """Whether a state is what was waited for."""
        if self.above is not None or self.below is not None:
            number = number_of(state)
            return number is not None and self._is_past(number)
        if self.state:
            return state.casefold() == self.state.casefold()
        return state.casefold() not in _NO_STATE and state != self.begins

    def _is_past(self, number: float) -> bool:
        return (self.above is None or number > self.above) and (self.below is None or number < self.below)

    def to_json(self) -> dict[str, Json]:
        """Return it for an event's metadata."""
        return asdict(self)


def watch_of(event: Event) -> Watch | None:
    """Return what an event waits for; None for one that tells of it, or is damaged."""
    try:
        return read_as(event.metadata.get(WATCH), Watch)
    except ValueError:  # of another version
        return None


def number_of(state: str) -> float | None:
    """Return a state as a number, None where it is none."""
    try:
        return float(state)
    except ValueError:
        return None


class Watches:
    """Follows what is waited for; `attend` beside each connection. Each watch is an event that waits in the mailbox.

    When it has come, an event that says so is filed first, under an id made of the watch's, and then the watch is
    withdrawn: a crash between the two tells it once, too.
    """

    def __init__(self, mailbox: EventBox, look: float = LOOK_SECONDS) -> None:
        self._mailbox = mailbox
        self._look = look
        self._changed = asyncio.Event()

    def look(self) -> None:
        """Judge them soon: the house, or what is waited for, has changed."""
        self._changed.set()

    async def all(self, owner_key: str | None = None) -> list[tuple[Event, Watch]]:
        """Return what is waited for, of one owner or all."""
        found = ((event, watch_of(event)) for event in await self._mailbox.waiting(HOME_WATCH, owner_key))
        return [(event, watch) for event, watch in found if watch is not None]

    async def add(self, cause: Event, watch: Watch, tell: str) -> Event:
        """Keep a watch for whoever caused it; `tell` is what they want to hear then."""
        now = utc_now()
        event = Event(
            HOME_WATCH,
            _of(f"{watch.name}: nothing like that in a year", tell),
            owner_key=cause.owner_key,
            session_id=cause.session_id,
            parent_id=cause.id,
            source=SOURCE,
            priority=PRIORITY,
            not_before=now + LONGEST,
            metadata={
                **in_room_of(cause),
                WATCH: watch.to_json(),
                TELL: tell,
                UNASKED: not cause.is_from_person,
            },
            created_at=now,
        )
        await self._mailbox.enqueue(event)
        self.look()
        return event

    async def remove(self, event: Event) -> bool:
        """Forget a watch; False when it is not waited for any more."""
        removed = await self._mailbox.withdraw(event.id, "nobody waits for it any more")
        self.look()
        return removed

    async def attend(self, home: Home, connection: "Connection") -> None:
        """Follow what is waited for until the connection ends, beginning with how it is now."""
        follower = _Follower(self._mailbox, home, connection, self.look)
        is_look = False
        while True:
            self._changed.clear()
            try:
                await follower.follow(await self.all())
                if is_look:
                    await follower.find_missing()
            except (MemoryFailure, HomeRefused) as error:
                log.warning("watches_not_followed", reason=str(error))
            is_look = not await within(self._look, self._changed)


class _Follower:
    """The watches over one connection."""

    def __init__(self, mailbox: EventBox, home: Home, connection: "Connection", changed: Callable[[], None]) -> None:
        self._mailbox = mailbox
        self._home = home
        self._connection = connection
        self._changed = changed
        self._watches: list[tuple[Event, Watch]] = []
        self._states: dict[str, str] = {}
        self._subscribed: tuple[int, frozenset[str]] | None = None
        self._gone: set[str] = set()
        """Ids of watches whose entity was not there at the last look."""

    async def follow(self, watches: Sequence[tuple[Event, Watch]]) -> None:
        """Subscribe to what is watched now, and judge each by the state that it is in."""
        self._watches = [(event, self._renamed(watch)) for event, watch in watches]
        wanted = frozenset(watch.entity for _, watch in self._watches)
        if self._subscribed is None or self._subscribed[1] != wanted:
            await self._subscribe(wanted)
        for event, watch in self._watches:
            state = self._states.get(watch.entity)
            if state is not None and watch.has_come(state):
                await self._tell(event, f"{tell_of(event)} {told(f'{watch.name}: {state} (it was {watch.begins})')}")

    async def find_missing(self) -> None:
        """Tell of what was not there at the last look either, once Home Assistant has started whole."""
        missing = {event.id for event, watch in self._watches if watch.entity not in self._states}
        if missing and not await has_started(self._connection):
            missing = set()
        for event, watch in self._watches:
            if event.id in missing & self._gone:
                gone = f"{watch.name} is not there any more, so that nobody can tell"
                await self._tell(event, _of(gone, tell_of(event)))
        self._gone = missing

    async def _subscribe(self, wanted: frozenset[str]) -> None:
        if self._subscribed is not None:
            await self._connection.unsubscribe(self._subscribed[0])
            self._subscribed = None
        self._states.clear()
        if wanted:
            ids: list[Json] = [*sorted(wanted)]
            number = await self._connection.subscribe(self._heard, "subscribe_entities", entity_ids=ids)
            self._subscribed = number, wanted
            await self._connection.ask("get_config")  # answers come in order: what is there has come before this one

    def _heard(self, event: Mapping[str, Json]) -> None:
        """Take in states: "a" what is there, "c" what changed ("+" is what is new of it), "r" what is gone."""
        for key, inside in (("a", None), ("c", "+")):
            for entity, state in fields(event.get(key)).items():
                value = fields(fields(state).get(inside) if inside else state).get("s")
                if isinstance(value, str):
                    self._states[entity] = plain(value, STATE)
        for each in listed(event.get("r")):
            self._states.pop(str(each), None)
        self._changed()

    async def _tell(self, watch: Event, content: str) -> None:
        """File what came, once, and forget the watch; nothing where nobody waits for it any more."""
        if all(event.id != watch.id for event in await self._mailbox.waiting(HOME_WATCH, watch.owner_key)):
            return
        come = replace(
            watch,
            id=f"{watch.id}-come",
            content=content.strip(),
            parent_id=watch.id,
            not_before=None,
            metadata={**in_room_of(watch), TELL: tell_of(watch), OUTSIDE: "home", **_told_by(watch)},
            created_at=utc_now(),
        )
        await self._mailbox.enqueue(come)
        await self._mailbox.withdraw(watch.id, "it has come")
        log.info("watch_came", watch=watch.id)

    def _renamed(self, watch: Watch) -> Watch:
        """Return the watch with the id that its entity has now."""
        house = self._home.house or House()
        if not watch.registered or watch.entity in house.entities:
            return watch
        now = (entity.id for entity in house.entities.values() if entity.registered == watch.registered)
        return replace(watch, entity=next(now, watch.entity))


def tell_of(watch: Event) -> str:
    """Return what they want to hear when it has come."""
    return str(watch.metadata.get(TELL, ""))


def _told_by(watch: Event) -> dict[str, Json]:
    """Return what tells, of what came, by which entity, and whether nobody had asked for it."""
    followed = watch_of(watch)
    entity: dict[str, Json] = {} if followed is None else {ENTITY: followed.entity}
    return {UNASKED: bool(watch.metadata.get(UNASKED)), **entity}


def told(words: str) -> str:
    """Return what Home Assistant says, marked as such."""
    return from_outside(words, SOURCE)


def _of(words: str, tell: str) -> str:
    """Return what is told instead of what they waited to hear."""
    return f"{told(words)} They waited to hear: {tell}"
