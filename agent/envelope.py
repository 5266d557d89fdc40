"""An Event as one line of JSON, and back: how it lies in the mailbox and travels between machines."""

import json
from dataclasses import fields
from datetime import UTC, datetime
from typing import Final

from agent.event import Event

_FIELDS: Final = frozenset(field.name for field in fields(Event))


def utc_text(at: datetime) -> str:
    """Return a moment as ISO text in UTC with microseconds: as texts they sort as the moments do.

    Raises ValueError for a naive one, which would mean another moment on another machine.
    """
    if at.tzinfo is None:
        raise ValueError(f"the time {at.isoformat()} has no zone: give an aware one")
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def to_json(event: Event) -> str:
    """Return the event as JSON text; `from_json` inverts it exactly, whatever characters it holds.

    Raises ValueError for a naive time, TypeError for metadata JSON cannot hold.
    """
    body: dict[str, object] = {field.name: getattr(event, field.name) for field in fields(Event)}
    body["metadata"] = dict(event.metadata)
    body["created_at"] = utc_text(event.created_at)
    body["not_before"] = None if event.not_before is None else utc_text(event.not_before)
    return json.dumps(body, separators=(",", ":"))


def from_json(text: str) -> Event:
    """Return the event `to_json` wrote; fields that this version does not know are left out."""
    body = json.loads(text)
    known = {name: value for name, value in body.items() if name in _FIELDS}
    known["created_at"] = datetime.fromisoformat(known["created_at"])
    if known["not_before"] is not None:
        known["not_before"] = datetime.fromisoformat(known["not_before"])
    return Event(**known)
