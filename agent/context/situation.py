"""The situation at the moment of an event, as tags of its block: each fact comes from one provider function."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Final, Protocol

import structlog

from agent.context.block import parse_time
from agent.event import TIMER, Event
from agent.mailbox import Lease
from agent.model.messages import Message
from agent.time.series import missed
from agent.tools.timers import late_seconds

SituationProvider = Callable[[Lease], Mapping[str, str]]
"""Returns tag names and texts; an empty mapping when there is nothing to say."""


class AtOpening(Protocol):
    """What a block tells beside the situation: the first one of an epoch, or each one."""

    @property
    def name(self) -> str:
        """Name of the part of the block."""

    @property
    def most_tokens(self) -> int:
        """What the part takes at most."""

    async def lines(self, event: Event, messages: Sequence[Message], besides: Collection[str]) -> str:
        """Return the part, "" for none.

        `messages` is what the epoch has; `besides` are ids of events that are told anyway.
        """


log = structlog.get_logger()

WORTH_MENTIONING = 60.0
"""Seconds a timer may ring late before it is told."""

OLD: Final = 5.0
"""Seconds after which words are old: what is asked of now is answered of now, and "in ten minutes" counts from them."""

LONGEST_FACT: Final = 500
"""Characters of one fact."""

CLIENT_TIME: Final = "client_timestamp_utc"
CLIENT_OFFSET: Final = "client_timezone_offset"
"""Keys of an event's metadata: when its words were written by the client's clock, and how far that is from UTC."""

_NAME: Final = re.compile(r"[A-Za-z_]+")
_RESERVED: Final = frozenset({"Context", "Current_Time", "Event", "Evidence", "Human_Input"})
_WIDEST_OFFSET: Final = 14 * 60
"""Minutes; no zone on Earth is further from UTC."""


def gather(providers: Sequence[SituationProvider], lease: Lease) -> dict[str, str]:
    """Return what all providers say, a later one before an earlier one where both know.

    A provider may be a plug-in's: one that fails, a name that is none or is the block's own, and a fact that is no text
    are left out.
    """
    found: dict[str, str] = {}
    for provider in providers:
        try:
            facts = dict(provider(lease))
        except Exception:  # a plug-in's bug must not cost a person's event
            log.exception("situation_unknown", provider=getattr(provider, "__qualname__", repr(provider)))
            continue
        for name, fact in facts.items():
            if isinstance(fact, str) and _NAME.fullmatch(str(name)) and name not in _RESERVED:
                found[name] = fact[:LONGEST_FACT]
    return found


def place_in_time(zone: tzinfo, now: Callable[[], datetime]) -> SituationProvider:
    """Return a provider of the household's zone with its present offset, e.g. `Europe/Berlin (UTC+02:00)`."""

    def timezone(lease: Lease) -> Mapping[str, str]:
        moment = (lease.event.created_at if lease.event.is_from_person else now()).astimezone(zone)
        offset = moment.strftime("%z")
        return {"Timezone": f"{zone} (UTC{offset[:3]}:{offset[3:5]})"}

    return timezone


def waited(now: Callable[[], datetime]) -> SituationProvider:
    """Return a provider that says how old a person's words are, or a timer rings late: the mind was away or busy."""

    def delay(lease: Lease) -> Mapping[str, str]:
        event = lease.event
        if event.type == TIMER:
            late, left_out = late_seconds(event, now()), missed(event, now())
            told = {"Late_Seconds": f"{late:.0f}"} if late > WORTH_MENTIONING else {}
            return told | ({"Also_Missed": f"{left_out} later ones of this series"} if left_out else {})
        age = (now() - event.created_at).total_seconds()
        return {"Waited_Seconds": f"{age:.0f}"} if event.is_from_person and age > OLD else {}

    return delay


def rang(lease: Lease) -> Mapping[str, str]:
    """Provide that a timer rings, or rang, beside it: the room knows its name, whether or not it says it."""
    return {"Rang": "yes"} if lease.event.type == TIMER else {}


def client_zone(lease: Lease) -> Mapping[str, str]:
    """Provide the offset of the clock of whoever wrote, where their client told it as JavaScript does."""
    minutes = lease.event.metadata.get(CLIENT_OFFSET)
    if isinstance(minutes, bool) or not isinstance(minutes, int) or abs(minutes) > _WIDEST_OFFSET:
        return {}
    return {"Timezone": offset_of(minutes)}


def written_at(event: Event) -> datetime:
    """Return when a person's event happened: by the clock of the client they wrote on, where that told it."""
    told = event.metadata.get(CLIENT_TIME)
    return (parse_time(told) if isinstance(told, str) else None) or event.created_at


def mood(lease: Lease) -> Mapping[str, str]:
    """Provide the mood that a client or an ear put beside the words."""
    told = lease.event.metadata.get("mood")
    return {"Mood": told} if isinstance(told, str) and told else {}


def offset_of(minutes: int) -> str:
    """Return an offset as `UTC+08:00`; `minutes` is JavaScript's getTimezoneOffset: UTC minus local time."""
    hours, rest = divmod(abs(minutes), 60)
    return f"UTC{'-' if minutes > 0 else '+'}{hours:02d}:{rest:02d}"
