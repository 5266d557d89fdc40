"""What a thin adapter sends: a list in its slot of the server, the tools, and the body that holds both."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from msgspec import Struct

from agent.model.interface import CachedPrefix
from agent.model.messages import Message, ToolSpec
from agent.model.sight import Sight
from agent.model.wire.openai import Entry, GrowingList, GrowingTools, encode
from agent.model.wire.profile import Profile
from memory.json_value import Json

NEXT_WORDS: Final[dict[str, Json]] = {"role": "user", "content": "-"}
"""Stands for what a person is about to say when a list is read ahead; the prefix before it is what counts."""

WireForm: TypeAlias = Callable[[Sequence[Message], Sequence[ToolSpec]], tuple[Sequence[Message], Sequence[ToolSpec]]]
"""Returns a list that goes on, and the tools, as the model is given them. Raises `IllegalMessages`."""


class Slot(Struct):
    """One place in which the server keeps what it has read, and the list that it read last."""

    list: GrowingList
    fields: Mapping[str, Json]
    """What a request says to get there; nothing where the server decides."""


class Requests:
    """Takes the messages and tools of each call, encoded as they grow, and returns the body that is posted.

    The first slot is the room's. With fewer than two there is nothing to choose.
    """

    def __init__(
        self,
        profile: Profile,
        form: Callable[[Entry], Entry] | None,
        sight: Sight,
        wire_form: WireForm,
        room: CachedPrefix | None,
    ) -> None:
        """`form` and `sight` are as in `GrowingList`.

        `room` finds the conversation that has the first slot to itself; None where there is none.
        """
        numbers = range(max(1, profile.slots))
        lists = [GrowingList(profile, form, sight) for _ in numbers]
        self._slots = [Slot(each, {"id_slot": n} if len(numbers) > 1 else {}) for n, each in enumerate(lists)]
        self._used = self._slots[1:]
        """Those of everything else, the one used longest ago first."""
        self._wire_form = wire_form
        self._room = room
        self._tools = GrowingTools()

    def take(self, messages: Sequence[Message], tools: Sequence[ToolSpec], *, is_whole: bool = True) -> Slot:
        """Return the slot of a list, brought up to it; both in the wire's form. Raises `IllegalMessages`."""
        known = self._room() if self._room is not None else None
        slot = self._slot_of(messages, self._wire_form(*known)[0] if known else ())
        slot.list.update(messages, is_whole=is_whole)
        self._tools.update(tools)
        return slot

    def _slot_of(self, messages: Sequence[Message], room: Sequence[Message]) -> Slot:
        """Return the room's slot for its list, else the one that knows the list's beginning, else the oldest.

        One of the two lists begins with the other, their system prompt apart, where a list is the room's.
        """
        if not self._used:
            return self._slots[0]
        shared = min(len(messages), len(room))
        # Where there is no room's list yet, any list may be it.
        if shared < 2 or list(messages[:shared]) == list(room[:shared]):
            return self._slots[0]
        known = max(self._used, key=lambda slot: slot.list.common(messages))
        chosen = known if known.list.common(messages) else self._used[0]
        self._used.remove(chosen)
        self._used.append(chosen)
        return chosen

    def take_ahead(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Slot:
        """Return the slot of a list that somebody is about to add to. Raises `IllegalMessages`."""
        return self.take(*self._wire_form(messages, tools), is_whole=False)

    def body(self, head: Json, slot: Slot, *, is_ahead: bool = False) -> bytes:
        """Return the body: `head`, an object, then tools and messages.

        The messages come last, so that the whole body grows at its end only.
        """
        listed = slot.list.encoded
        if is_ahead:
            listed = b"%b,%b]" % (listed[:-1], encode(NEXT_WORDS))
        tools = b'"tools":%b,' % self._tools.encoded if self._tools.entries else b""
        return b'%b,%b"messages":%b}' % (encode(head)[:-1], tools, listed)
