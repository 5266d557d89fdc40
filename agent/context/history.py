"""The turns of a message list: the last whole ones within two limits, the rest as a digest."""

from collections.abc import Callable, Collection, Sequence
from typing import Final

from msgspec.structs import replace

from agent.context import block
from agent.context.recollection import RECALLED, RECENT
from agent.context.remembered import REMEMBERED
from agent.model.messages import Message
from memory.json_value import fields, parse_json

NOT_SHOWN = "shown to you before, and no longer"
"""Stands where an image was."""

_TELLS_OF_OTHERS: Final = frozenset({RECENT, RECALLED, REMEMBERED})
"""Parts of a block that tell of earlier events."""

DIGEST_LINES = 12
DIGEST_LINE_CHARACTERS = 160

_OURS: Final = "you: "
_THEIRS: Final = ", a person: "
"""What stands in a line of a digest before what was said."""


def turns(messages: Sequence[Message]) -> list[list[Message]]:
    """Return the messages in turns, each from a user message to before the next; what precedes the first is dropped."""
    found: list[list[Message]] = []
    for message in messages:
        if message.role == "user":
            found.append([message])
        elif found and message.role != "system":
            found[-1].append(message)
    return found


def event_of(turn: Sequence[Message]) -> str:
    """Return the id of the event that a turn is about, "" when it begins with no block."""
    seen = block.parse(turn[0].content)
    return seen.event_id if seen else ""


def is_answered(turn: Sequence[Message]) -> bool:
    """Whether every call of the turn has its result, so that it may stand in a message list."""
    called = [call.id for message in turn for call in message.tool_calls]
    answered = [message.tool_call_id for message in turn if message.role == "tool"]
    return called == answered


def newest(
    turns: Sequence[Sequence[Message]], max_messages: int, max_tokens: int, cost: Callable[[Message], int]
) -> list[Sequence[Message]]:
    """Return the longest run of whole last turns within both limits; none with an unanswered call is among them."""
    count = tokens = 0
    taken: list[Sequence[Message]] = []
    for turn in reversed(turns):
        count += len(turn)
        if count > max_messages or not is_answered(turn):
            break
        tokens += sum(cost(message) for message in turn)
        if tokens > max_tokens:
            break
        taken.insert(0, turn)
    return taken


def without(messages: Sequence[Message], events: Collection[str]) -> list[Message]:
    """Return the turns that are of other events; one of no event may tell of any."""
    kept = [turn for turn in turns(messages) if (name := event_of(turn)) and name not in events]
    return [message for turn in kept for message in (without_recent(turn[0]), *turn[1:])]


def without_recent(message: Message) -> Message:
    """Return a block's message without what it told of earlier events, of which one may be meant."""
    seen = block.parse(message.content)
    if seen is None or not seen.situation.keys() & _TELLS_OF_OTHERS:
        return message
    others = {name: told for name, told in seen.situation.items() if name not in _TELLS_OF_OTHERS}
    return replace(message, content=block.render(replace(seen, situation=others)))


def without_images(message: Message) -> Message:
    """Return a message without its images, and with a word in their place."""
    if not message.images:
        return message
    seen = block.parse(message.content) if message.role == "user" else None
    if seen is None:
        return replace(message, images=(), content=f"{message.content}\n({NOT_SHOWN})")
    unseen = {"note": NOT_SHOWN}
    attached = tuple(each if each.text else block.Attached({**each.about, **unseen}) for each in seen.attached)
    return replace(message, images=(), content=block.render(replace(seen, attached=attached)))


def digest(left: Sequence[Message]) -> str:
    """Return a short account of the messages left behind, made without a model: who said what, the newest lines."""
    lines = [line for message in left for line in _line(message)]
    return "\n".join(line[:DIGEST_LINE_CHARACTERS] for line in lines[-DIGEST_LINES:])


def last_reply(digested: str) -> str | None:
    """Return the last words of ours that a digest holds, "" where they were cut, None where it holds none."""
    ours = [line for line in digested.splitlines() if line.startswith(_OURS)]
    if not ours:
        return None
    said = ours[-1].removeprefix(_OURS)
    if not said.startswith("{"):  # bare text is an answer too
        return said if len(ours[-1]) < DIGEST_LINE_CHARACTERS else ""
    try:
        return str(fields(parse_json(said)).get("text", ""))
    except ValueError:
        return ""


def last_asked(digested: str) -> str | None:
    """Return the last words of a person's that a digest holds, "" where they were cut, None where it holds none."""
    theirs = [line for line in digested.splitlines() if _THEIRS in line and not line.startswith(_OURS)]
    if not theirs:
        return None
    return theirs[-1].partition(_THEIRS)[2] if len(theirs[-1]) < DIGEST_LINE_CHARACTERS else ""


def _line(message: Message) -> list[str]:
    if message.role == "user":
        seen = block.parse(message.content)
        if seen is None:
            return message.content.splitlines()
        when = block.format_time(seen.time) if seen.time else "earlier"
        beside = "".join(f" [with {each.about.get('type', 'a file')}]" for each in seen.attached)
        return [f"{when}{_THEIRS if seen.is_human else f', {seen.event_type}: '}{seen.words}{beside}"]
    if message.role == "assistant":
        replies = [call.arguments for call in message.tool_calls if call.name == "reply"]
        return [f"{_OURS}{text}" for text in (message.content, *replies) if text]
    return []
