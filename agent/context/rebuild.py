"""The exact message list of a past model call, out of the journal."""

from typing import Any, cast

from msgspec import Struct

from agent.context.epoch import digest_of, opened_of
from agent.context.epochs import MESSAGE
from agent.model.messages import Message, ToolSpec
from memory.errors import MemoryFailure
from memory.state.journal import DAMAGED, ERASED, THINNED, Journal, Stored

REQUESTS = "llm.requests"


class Gone(MemoryFailure):
    """The journal does not hold it: there is no such call, or its details were thinned for age, or erased."""


class PastCall(Struct, frozen=True):
    """A model call as it was sent."""

    request: Stored
    messages: list[Message]
    tools: tuple[ToolSpec, ...]
    is_proven: bool
    """Whether the digest of the rebuilt list is the one that was journaled before the call."""


async def rebuild(journal: Journal, request_id: str) -> PastCall:
    """Return the call whose `llm.requests` entry has this id. Raises `Gone`, which says why it cannot be had."""
    request = await journal.entry(request_id)
    if request is None or request.topic != REQUESTS:
        raise Gone(f"the journal has no model call with the id {request_id}; `nakari journal calls` lists them")
    asked = cast("dict[str, Any]", _whole(request).body)
    opened = await journal.entry(str(asked.get("epoch", "")))
    if opened is None:
        raise Gone("the context of this call is not in the journal")
    grown = await journal.entries(
        topic=MESSAGE, session_id=request.session_id, owner_key=request.owner_key, after=opened.seq
    )
    own = [_whole(entry).body for entry in grown if entry.seq < request.seq]
    try:
        begun = opened_of(_whole(opened))
        since = [Message.from_json(each.get("message")) for each in own if each.get("epoch") == begun.epoch]
        last = [Message.from_json(asked["asked"])] if "asked" in asked else []
    except ValueError as error:
        raise Gone(f"the disk has changed what the journal has of this call: {error}") from error
    messages = [*begun.messages, *since, *last]
    is_proven = len(messages) == asked.get("messages") and digest_of(messages) == asked.get("digest")
    return PastCall(request, messages, begun.tools, is_proven)


def _whole(entry: Stored) -> Stored:
    """Return an entry that still has its body. Raises `Gone`."""
    if ERASED in entry.body:
        raise Gone("words of this call were erased")
    if THINNED in entry.body:
        raise Gone("thinned: the details of this call were dropped for their age")
    if DAMAGED in entry.body:
        raise Gone("the disk has changed what the journal has of this call")
    return entry
