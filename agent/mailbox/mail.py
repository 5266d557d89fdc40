"""The records of the mailbox: the lease on the event in hand, the wake of a suspended one, what is filed of each."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, Literal, Protocol

from msgspec import Struct

from agent.event import Event
from memory.json_value import Json

State = Literal["pending", "suspended", "in_hand", "completed", "dead", "withdrawn"]

OPEN: Final = "state IN ('pending', 'suspended')"
"""Of an event that waits, in SQL."""

DUE: Final = "ifnull(due_at <= :now, waits_for = '')"
"""Of one that waits and may be delivered now."""

UNFINISHED: Final = "state IN ('pending', 'suspended', 'in_hand')"
"""Of one that waits, or is in hand."""

PERSON: Final = "person"
"""The name that any person's event wakes."""

CHILDREN: Final = "children"
"""The name that wakes an event when all the events it made for it are closed."""

QUIET: Final = "quiet"
"""The name that wakes what gave way to a person once nobody has spoken for a while."""

MAX_ATTEMPTS: Final = 5
"""Deliveries of one event at which the process may die; after the last one it goes to the dead letter."""

IDLE_PAUSE: Final = timedelta(seconds=60)
"""How long an event suspended until an idle moment stays away: an idle mailbox would hand it back at once, for ever."""

LEAST_PAUSE: Final = timedelta(seconds=1)
"""How long any suspended event stays away at least, also when the moment it asked for has passed."""

FIRST_WORDS: Final = 60
"""Characters of an event by which a person or the agent knows it again."""


class EventBox(Protocol):
    """A mailbox, as far as timers and watches need it."""

    async def enqueue(self, event: Event) -> bool:
        """File an event; False when its id is known."""

    async def withdraw(self, event_id: str, reason: str) -> bool:
        """Close an event unhandled; False when it is not waiting."""

    async def waiting(self, event_type: str, owner_key: str | None) -> list[Event]:
        """Return the events of a type that wait, of one owner or all, the next one first."""


class Wake(Struct, frozen=True):
    """What brings a suspended event back: a moment, something that happens, or quiet."""

    kind: Literal["time", "event", "idle"]
    at: datetime | None = None
    """Aware. time: then (needed). event: then at the latest. idle: not earlier; None is the mailbox's own pause."""
    name: str = ""
    """event: the type of event whose delivery wakes it, `person` for any of a person's, or a name given to `wake`."""

    def __post_init__(self) -> None:
        if self.kind == "time" and self.at is None:
            raise ValueError("a wake by time needs its moment")
        if self.at is not None and self.at.tzinfo is None:
            raise ValueError("a wake's moment must be aware")
        if bool(self.name) != (self.kind == "event"):
            raise ValueError("a wake by event, and no other, needs a name")


class Purse(Struct, frozen=True):
    """What a task of the agent's own may take of models altogether."""

    tokens: int
    """Read and written together."""
    usd: float
    """As far as the models' prices are known."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left of the one or the other."""
        return self.tokens <= 0 or self.usd <= 0

    def less(self, tokens: int, usd: float) -> "Purse":
        """Return what is left after so much was taken; it may be below nothing."""
        return Purse(self.tokens - tokens, self.usd - usd)


PURSE: Final = "purse"
"""Key of the metadata of an event that growth brings: tokens and US dollars for all that comes of it."""


class Lease(Struct, frozen=True):
    """The one event being worked on."""

    event: Event
    attempt: int = 1
    """1, and one more for each time the process died with it in hand."""
    note: str = ""
    """What was left when it was last suspended."""
    tool_calls: int = 0
    """Counted against its budget since the last grant."""
    model_calls: int = 0
    """Counted against its bound since the last grant."""
    grants: int = 0
    """Fresh budgets given so far."""
    redelivered: bool = False
    """The process died with it in hand, and it was not suspended since: it goes on where that broke off."""
    calls_left: int | None = None
    """Model calls that the agent's own work of its owner may still take today; None for what is not its own work."""
    task_calls_left: int | None = None
    """Model calls that may still be taken of all that came of its task; None for what is not its own work."""
    purse: Purse | None = None
    """What may still be taken of models for all that came of its task; None where that has no purse."""

    @property
    def is_given_up(self) -> bool:
        """Whether the process died with it too often: it is in the dead letter, not in hand."""
        return self.attempt > MAX_ATTEMPTS


class MailboxRecord(Struct, frozen=True):
    """What the mailbox knows of one event, open or closed."""

    event: Event
    state: State
    progress: Lease
    waits_for: str = ""
    due_at: datetime | None = None
    """Aware UTC; when it comes, or comes back, at the earliest (waiting for a name: at the latest)."""
    summary: str = ""
    figures: Mapping[str, Json] = {}
    reason: str = ""
    """Why it is in the dead letter, was withdrawn, or was answered by no model yet."""
    closed_at: datetime | None = None
    """Aware UTC; when it was completed, given up or withdrawn."""

    def outlined(self, now: datetime) -> dict[str, Json]:
        """Return what is listed of an event that waits: id, type, first words, when (UTC, a name, or now), priority."""
        event = self.event
        times = [f"{self.due_at:%Y-%m-%d %H:%M:%S} UTC"] if self.due_at and self.due_at > now else []
        when = " or ".join([*times, *([self.waits_for] if self.waits_for else [])])
        words = first_words(event.content)
        return {"id": event.id, "type": event.type, "words": words, "when": when or "now", "priority": event.priority}

    @property
    def is_superseded(self) -> bool:
        """Whether it was closed because another event goes on with its words."""
        return self.state == "withdrawn" and self.reason.startswith("superseded")


def speaker_in(event: Event) -> str:
    """Return the name that a person's words wake only in this session: whoever asked speaks there again."""
    return f"{PERSON} in {event.session_id}"


def first_words(text: str) -> str:
    """Return the beginning of a text on one line, without the mark at its end; whole words where it has such."""
    line = " ".join(text.split()).rstrip(" .!?。！？…")
    if len(line) <= FIRST_WORDS:
        return line
    cut = line[: FIRST_WORDS + 1]
    return f"{(cut.rpartition(' ')[0] or cut[:-1]).rstrip(' ,;:，；：')}…"


def back_at(wake: Wake, now: datetime) -> datetime | None:
    """Return the moment at which an event suspended now comes back; None when only its name brings it."""
    if wake.at is None:
        return now + IDLE_PAUSE if wake.kind == "idle" else None
    return max(wake.at, now + LEAST_PAUSE)
