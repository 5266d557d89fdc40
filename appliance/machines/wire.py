"""What ears and mind tell each other: words, evidence and sentences as JSON, each with its version; never sound."""

import asyncio
import json
import uuid
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import Any, Final, Literal, TypeAlias, get_args

import structlog
from msgspec import Struct, to_builtins

from agent.event import Event, to_json
from audio.loops import Loop
from memory.engine.interface import Engine
from memory.errors import EngineFailure, EngineRefused
from memory.json_value import read_as, read_whole

log = structlog.get_logger()

VERSION: Final = 1
"""Of all messages. One that is newer than this program knows is refused, not half read."""

INBOX: Final = "mind"
"""The inbox of the mind: `Turn`, `Ring` and `Forget`, by the id of the event, or one of their own."""

PRESENCE: Final = "presence"
"""Topic on which each machine tells that it lives, every `PRESENCE_SECONDS`."""

PRESENCE_SECONDS: Final = 1.5

PROCESS: Final = uuid.uuid4().hex
"""Id of this process, another one at each start, by which two machines of one name are told apart."""

RETRY_SECONDS: Final = 1.0
"""Between two tries, where the engine or the disk fails."""
ANSWERED: Final = "answered"
"""Key of an event's metadata: what was said to it at the ears, while no mind was there; such a one wants no answer."""

REPORTS: Final = "mind.reports"
"""Topic of what became of sentences, and of `Interrupt`, from the ears to the mind."""


def topic_of(machine: str) -> str:
    """Return the topic at which the ears of this machine serve `Sentence`, `End`, `Stop` and `Timers`."""
    return f"ears.{machine}"


class Turn(Struct, frozen=True):
    """What was said at the ears, or a timer that was set there, with its evidence."""

    machine: str
    room: str
    """The name of its room, "" where it has none."""
    event: Event
    """With `metadata["answered"]` where it was answered at the ears: then it is journaled, and wants no answer."""


class Ring(Struct, frozen=True):
    """What became of a timer at the ears."""

    machine: str
    timer: str
    """Id of its event."""
    state: str
    """rang, stopped, ended (nobody stopped it), cancelled."""
    words: str = ""
    """By which it was stopped."""


class Forget(Struct, frozen=True):
    """Somebody said at the ears that the newest turns of their room are to be forgotten."""

    machine: str
    room: str
    count: int = 1


FOLLOWS: Final = "standby"
"""The role of a machine that could have the mind, and follows who has it."""


class Presence(Struct, frozen=True):
    """A machine lives."""

    machine: str
    role: str
    """mind, ears, or `FOLLOWS`: neither ears nor a mind heed that one."""
    room: str = ""
    epoch: int = 0
    """Of the mind's lease; 0 of ears."""
    leaves: bool = False
    """Whether it stops now."""
    waiting: int = 0
    """At ears: turns that wait for a mind."""
    process: str = ""
    """The `PROCESS` that tells it; "" of an older nakari."""


class Sentence(Struct, frozen=True):
    """A sentence to be spoken. Sent again until a `Report` says that it has ended: the ears speak each number once."""

    epoch: int
    """Of the mind that sends it: what an older one sends is refused."""
    event_id: str
    """What is answered."""
    reply: str
    """Id of the reply."""
    number: int
    """1, 2, 3 … within the reply, in the order of speaking."""
    text: str
    language: str
    """ISO 639-1."""
    until: str = ""
    """UTC, ISO 8601: not begun later than that; "" for any time."""
    is_sign: bool = False
    """Only tells that it goes on: no answer."""

    def __post_init__(self) -> None:
        if self.until and datetime.fromisoformat(self.until).tzinfo is None:
            raise ValueError("a time without its zone")


class End(Struct, frozen=True):
    """A reply has no more sentences than so many."""

    epoch: int
    reply: str
    count: int


class Stop(Struct, frozen=True):
    """Be silent: drop what is not heard yet of a reply, or of all ("")."""

    epoch: int
    reply: str = ""


class Timers(Struct, frozen=True):
    """All timers that are set for the room of these ears."""

    epoch: int
    events: tuple[Event, ...]


State: TypeAlias = Literal["waits", "started", "heard", "cut", "dropped", "late", "old"]
"""waits: taken, not begun. started: its first sample is committed. heard: whole. cut: as far as `heard` says. dropped:
nobody heard anything of it. late: its time was over. old: of a mind that another one has followed."""


class Report(Struct, frozen=True):
    """What became of a sentence; an answer to it, and published at `REPORTS` with each change."""

    machine: str
    event_id: str
    reply: str
    number: int
    state: State
    heard: str = ""


class Interrupt(Struct, frozen=True):
    """Somebody at the ears wants silence, or the floor: the run of this event ends ("": whatever is in hand there)."""

    machine: str
    room: str
    event_id: str = ""


Message: TypeAlias = Turn | Ring | Forget | Presence | Sentence | End | Stop | Timers | Report | Interrupt

_KINDS: Final[dict[str, type[Message]]] = {kind.__name__.lower(): kind for kind in get_args(Message)}

_NO_MESSAGE: Final = (ValueError, KeyError, AttributeError, TypeError, OverflowError)


class WireRefused(EngineRefused):
    """A message of another machine that this version does not read; the sentence says what to update."""


class NoMessage(WireRefused):
    """What no version reads."""


def pack(message: Message) -> bytes:
    """Return a message as JSON; `unpack` inverts it."""
    return json.dumps({"version": VERSION, "kind": type(message).__name__.lower(), **to_builtins(message)}).encode()


def unpack(data: bytes) -> Message:
    """Return the message that was packed. Raises `WireRefused` for a newer one, and for what is none."""
    try:
        body: Any = read_whole(data)
        version, kind = int(body.pop("version")), str(body.pop("kind"))
    except _NO_MESSAGE as error:
        raise NoMessage("another machine sent what is no message of nakari's; look who has the login") from error
    if version > VERSION:
        what = f"another machine sent a message of version {version}, and this one reads up to {VERSION}"
        raise WireRefused(f"{what}; update nakari here")
    try:
        message = read_as(body, _KINDS[kind])
        for event in _events_in(message):
            to_json(event)  # it can be kept
    except _NO_MESSAGE as error:
        raise NoMessage(f"another machine sent a {kind!r} that cannot be read; update nakari on both") from error
    return message


def _events_in(message: Message) -> tuple[Event, ...]:
    if isinstance(message, Turn):
        return (message.event,)
    return message.events if isinstance(message, Timers) else ()


class Reader:
    """Reads the messages of other machines; each sentence about one that cannot be read is logged once."""

    def __init__(self) -> None:
        self._refused: set[str] = set()

    def read(self, data: bytes) -> Message | None:
        """Return the message, None for one that cannot be read."""
        try:
            return unpack(data)
        except WireRefused as error:
            if str(error) not in self._refused:
                self._refused.add(str(error))
                log.warning("message_refused", reason=str(error))
            return None


async def tell_presence(engine: Engine, here: Callable[[], Presence]) -> None:
    """Tell the household that this machine lives, until cancelled; also while the engine is away at times."""
    while True:
        with suppress(EngineFailure):
            await engine.topics.publish(PRESENCE, pack(here()))
        await asyncio.sleep(PRESENCE_SECONDS)


async def again_and_again(loop: Loop) -> None:
    """Run a loop that fails while the engine is away, for ever."""
    while True:
        with suppress(EngineFailure):
            await loop()
        await asyncio.sleep(RETRY_SECONDS)
