"""Which of a local server's slots a list goes to: the room keeps one for itself, everything else shares the rest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.model.messages import Message
from agent.model.wire.openai import GrowingList
from agent.model.wire.profile import Profile
from memory.json_value import Json


@dataclass(slots=True)
class Slot:
    """One place in which the server keeps what it has read, and the list that it read last."""

    list: GrowingList
    fields: Mapping[str, Json]
    """What a request says to get there; nothing where the server decides."""


class Slots:
    """Chooses; the first slot is the room's. With fewer than two there is nothing to choose."""

    def __init__(self, profile: Profile) -> None:
        count = profile.slots
        self._slots = [Slot(GrowingList(profile), {"id_slot": number} if count > 1 else {}) for number in range(count)]
        self._slots = self._slots or [Slot(GrowingList(profile), {})]
        self._used = list(self._slots[1:])
        """Those of everything else, the one used longest ago first."""

    def of(self, messages: Sequence[Message], room: Sequence[Message]) -> Slot:
        """Return the room's slot for its list, else the one that knows the list's beginning, else the oldest."""
        if not self._used or is_of_room(messages, room):
            return self._slots[0]
        known = max(self._used, key=lambda slot: slot.list.common(messages))
        chosen = known if known.list.common(messages) else self._used[0]
        self._used.remove(chosen)
        self._used.append(chosen)
        return chosen


def is_of_room(messages: Sequence[Message], room: Sequence[Message]) -> bool:
    """Whether one of the two lists begins with the other, their system prompt apart.

    Where there is no room's list yet, any list may be it.
    """
    shared = min(len(messages), len(room))
    return shared < 2 or list(messages[:shared]) == list(room[:shared])
