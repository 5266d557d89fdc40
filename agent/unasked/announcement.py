"""An announcement: something the agent says unasked, as an event that waits in the mailbox until it is said."""

import hashlib
import re
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Final, Literal, TypeAlias, get_args

from msgspec import Struct

from agent.event import BOX, HOME_WATCH, ROOM, SELF_CREATED, Event, room_of
from agent.mailbox.economy import SELF, UNASKED
from memory.json_value import read_as
from memory.state.importance import UNSET

ANNOUNCEMENT: Final = "announcement"
"""Type of the event that keeps one."""

EXPIRES: Final = "expires"
"""Key of an event's metadata: ISO time after which what comes of it is of no use any more."""

ENTITY: Final = "entity"
"""Key of a home watch's metadata: the entity that it tells of."""

Kind: TypeAlias = Literal["urgent", "answer", "awaited", "notice", "own"]
"""Urgent by configuration; an answer, kept as its room was away; awaited by a person who asked for it; another
program's notice; the agent's own idea."""

MOST_ABOUT: Final = 200
"""Characters that are kept of what it came of."""

_NEVER_BY_ITSELF: Final = timedelta(days=366)
"""After its end, when the mailbox would hand it over: it is closed long before."""


class Terms(Struct, frozen=True):
    """How long an announcement of a kind is good for."""

    useful: timedelta
    """From its making, or from the end of the quiet hours in which it was made."""
    alone: timedelta | None
    """How long it waits for somebody to be heard before it is said into a silent room; None for ever."""


TERMS: Final[Mapping[Kind, Terms]] = {
    "urgent": Terms(timedelta(hours=1), timedelta(0)),
    "answer": Terms(timedelta(minutes=30), timedelta(0)),
    "awaited": Terms(timedelta(hours=6), timedelta(minutes=10)),
    "notice": Terms(timedelta(hours=1), timedelta(minutes=10)),
    "own": Terms(timedelta(hours=3), None),
}

_ORDER: Final[tuple[Kind, ...]] = get_args(Kind)


class Announcement(Struct, frozen=True):
    """Words that wait to be said unasked."""

    id: str
    """Follows from the event and the words: after a crash the same words are not filed twice."""
    words: str
    kind: Kind
    about: str
    """What it came of: an entity, or the beginning of the event's content; what has the same is the same matter."""
    cause: str
    """Id of the event it came of."""
    made_at: datetime
    """Aware."""
    expires_at: datetime
    """Aware."""
    session_id: str = "room"
    importance: float = UNSET
    """From 0 to 1, as the event had it."""
    room: str = ""
    """The name of the room that it belongs to, "" for wherever somebody is."""

    @property
    def rank(self) -> tuple[int, float, datetime]:
        """What sorts the most important, and of equals the oldest, first."""
        return _ORDER.index(self.kind), -self.importance, self.made_at


def announcement_of(
    event: Event, words: str, kind: Kind, made_at: datetime, quiet_until: datetime | None
) -> Announcement:
    """Return what a reply to an event is as an announcement; the quiet hours do not count against it.

    For an answer there are none: somebody asked.
    """
    until = quiet_until if quiet_until and kind != "answer" else made_at
    digest = hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return Announcement(
        id=f"{event.id}.{digest}",
        words=words,
        kind=kind,
        about=str(event.metadata.get(ENTITY) or event.content)[:MOST_ABOUT],
        cause=event.id,
        made_at=made_at,
        expires_at=_given_end(event) or until + TERMS[kind].useful,
        session_id=event.session_id,
        importance=event.importance,
        room=room_of(event) or (BOX if kind == "answer" else ""),
    )


def kind_of(event: Event, words: str, urgent: Collection[str], parent: Event | None) -> Kind:
    """Return the kind of what is said for an event; `parent` is the event that this one was made for, if any.

    What the agent thought of itself is never urgent, whatever stands in it.
    """
    if event.is_from_person:
        return "answer"
    if event.source != SELF and _names_any(f"{event.metadata.get(ENTITY, '')} {event.content} {words}", urgent):
        return "urgent"
    if event.type == HOME_WATCH:
        return "own" if event.metadata.get(UNASKED) else "awaited"
    if event.source == SELF or event.type == SELF_CREATED:
        return "awaited" if parent is not None and parent.is_from_person else "own"
    return "notice"


def event_of(announcement: Announcement) -> Event:
    """Return the event that keeps an announcement in the mailbox."""
    return Event(
        ANNOUNCEMENT,
        announcement.words,
        id=announcement.id,
        session_id=announcement.session_id,
        importance=announcement.importance,
        not_before=announcement.expires_at + _NEVER_BY_ITSELF,
        metadata={
            "kind": announcement.kind,
            "about": announcement.about,
            "cause": announcement.cause,
            EXPIRES: announcement.expires_at.isoformat(),
            **({ROOM: announcement.room} if announcement.room else {}),
        },
        created_at=announcement.made_at,
    )


def kept_in(event: Event) -> Announcement | None:
    """Return the announcement that `event_of` kept; None where its words were erased, or it is of another version."""
    told = {
        "about": "",
        "cause": "",
        **event.metadata,
        "id": event.id,
        "words": event.content,
        "made_at": event.created_at,
        "expires_at": _given_end(event),
        "session_id": event.session_id,
        "importance": event.importance,
        ROOM: room_of(event),
    }
    try:
        return read_as(told, Announcement) if event.content else None
    except ValueError:
        return None


def _given_end(event: Event) -> datetime | None:
    try:
        moment = datetime.fromisoformat(str(event.metadata.get(EXPIRES, "")))
    except ValueError:
        return None
    return moment if moment.tzinfo else None


def _names_any(text: str, terms: Collection[str]) -> bool:
    """Whether a text has one of the words or names in it: Latin ones whole, Chinese ones anywhere."""
    return any(re.search(_whole(term.strip()), text, re.IGNORECASE) for term in terms if term.strip())


def _whole(term: str) -> str:
    return rf"(?<!\w){re.escape(term)}(?!\w)" if term.isascii() else re.escape(term)
