"""Where somebody spoke, and which rooms there are, as the agent is told with an event."""

from collections.abc import Callable, Mapping

from agent.context.situation import SituationProvider
from agent.event import BOX, Event, room_of
from agent.mailbox import Lease
from appliance.rooms.rooms import Rooms, same_name


def where(rooms: Rooms, heard: Callable[[], Mapping[str, float]]) -> SituationProvider:
    """Return a provider of the room of an event: nothing where there is one room, and that has no name.

    With what no person said it also tells where people were heard lately; `heard` has by room how many seconds ago.
    """

    def situation(lease: Lease) -> Mapping[str, str]:
        here = _room(lease.event)
        others = [name for name in rooms.names if same_name(name) != same_name(here)]
        if here in {"", BOX} and not (others and rooms.are_several):
            return {}
        told = [here] if here else []
        if others:
            told.append(f"{'others' if here else 'rooms'}: {', '.join(others)}")
        if not lease.event.is_from_person and (near := heard()):
            told.append("heard lately: " + ", ".join(f"{room} {round(ago / 60)} min ago" for room, ago in near.items()))
        return {"Room": "; ".join(told)}

    return situation


def _room(event: Event) -> str:
    """Return what the room of an event is called, "" where it has none: what was typed, and the agent's own."""
    return room_of(event) or (BOX if event.source == "mic" else "")
