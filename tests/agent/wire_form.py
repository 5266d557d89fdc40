"""A whole message list as it goes to a provider, checked by the rules of the wire."""

from collections.abc import Sequence

from agent.model.messages import Message
from agent.model.wire.openai import GrowingList
from agent.model.wire.profile import GENERIC, Profile
from memory.json_value import Json


def wire_form(
    messages: Sequence[Message], profile: Profile = GENERIC, *, is_whole: bool = True
) -> list[dict[str, Json]]:
    """Return the entries that a provider is sent for a list, which is not to be answered yet unless it `is_whole`.

    Raises `IllegalMessages` where a provider would reject them.
    """
    growing = GrowingList(profile)
    growing.update(messages, is_whole=is_whole)
    return growing.entries
