"""Past model calls as a person looks at them, read beside the running service."""

from datetime import tzinfo
from pathlib import Path

from agent.context.rebuild import REQUESTS, Gone, rebuild
from appliance.admin.exchange import viewed
from appliance.errors import Exit, Problem
from memory.json_value import Json
from memory.state.journal import DAMAGED, ERASED, THINNED, Journal, Stored


async def newest(state_folder: Path, zone: tzinfo, count: int) -> list[str]:
    """Return a line for each of the newest calls, oldest first, in this zone's time. Raises `StateUnreadable`."""
    async with viewed(state_folder) as view:
        asked = await Journal(view).entries(topic=REQUESTS, newest=True, limit=count)
    return [f"{entry.at.astimezone(zone):%Y-%m-%d %H:%M:%S}  {entry.id}  {_told(entry)}" for entry in asked]


def _told(asked: Stored) -> str:
    if ERASED in asked.body:
        return "its words were erased"
    if THINNED in asked.body:
        return "its details were dropped for their age"
    if DAMAGED in asked.body:
        return "the disk has changed it"
    return f"{asked.body.get('model', '?')}, {asked.body.get('messages', '?')} messages"


async def past_call(state_folder: Path, request_id: str) -> tuple[dict[str, Json], bool]:
    """Return a call for programs, and whether it is proven.

    Raises `Problem` for one that is not there, or not any more, and `StateUnreadable`.
    """
    async with viewed(state_folder) as view:
        try:
            past = await rebuild(Journal(view), request_id)
        except Gone as gone:
            raise Problem(str(gone), Exit.NO_INPUT) from gone
    told: dict[str, Json] = {
        "id": past.request.id,
        "at": past.request.at.isoformat(),
        "model": past.request.body.get("model", ""),
        "event_id": past.request.event_id,
        "is_proven": past.is_proven,
        "messages": [message.to_json() for message in past.messages],
        "tools": [{"name": tool.name, "description": tool.description} for tool in past.tools],
    }
    return told, past.is_proven
