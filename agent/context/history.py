"""The turns a new epoch takes over from the one before: the last whole ones within two limits, the rest as a digest."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from agent.context import block
from agent.context.recent import RECENT
from agent.model.messages import Message

DIGEST_LINES = 12
DIGEST_LINE_CHARACTERS = 160


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


def split(
    messages: Sequence[Message], max_messages: int, max_tokens: int, cost: Callable[[Message], int]
) -> tuple[list[Message], list[Message]]:
    """Return what is left behind and what is taken along: the longest run of whole last turns within both limits.

    Turns with an unanswered call are never taken along.
    """
    taken: list[list[Message]] = []
    count = tokens = 0
    remaining = turns(messages)
    while remaining:
        turn = remaining[-1]
        count += len(turn)
        tokens += sum(cost(message) for message in turn)
        if count > max_messages or tokens > max_tokens or not is_answered(turn):
            break
        taken.insert(0, remaining.pop())
    return [message for turn in remaining for message in turn], [message for turn in taken for message in turn]


def without(messages: Sequence[Message], events: Collection[str], words: Collection[str]) -> list[Message]:
    """Return the turns that are not of these events, the summary at the front without the lines that hold the words."""
    kept = []
    for turn in turns(messages):
        seen = block.parse(turn[0].content)
        if seen is None:
            lines = turn[0].content.splitlines()
            clean = [line for line in lines if not any(said in line for said in words if said)]
            kept += [replace(turn[0], content="\n".join(clean)), *turn[1:]]
        elif seen.event_id not in events:
            kept += [_without_recent(turn[0], seen), *turn[1:]]
    return kept


def _without_recent(message: Message, seen: block.Block) -> Message:
    """Return a block's message without what it told of earlier events, of which one may be meant."""
    if RECENT not in seen.situation:
        return message
    others = {name: told for name, told in seen.situation.items() if name != RECENT}
    return replace(message, content=block.render(replace(seen, situation=others)))


def digest(left: Sequence[Message]) -> str:
    """Return a short account of the messages left behind, made without a model: who said what, the newest lines."""
    lines = [line for message in left for line in _line(message)]
    return "\n".join(line[:DIGEST_LINE_CHARACTERS] for line in lines[-DIGEST_LINES:])


def _line(message: Message) -> list[str]:
    if message.role == "user":
        seen = block.parse(message.content)
        if seen is None:
            return message.content.splitlines()
        when = block.format_time(seen.time) if seen.time else "earlier"
        return [f"{when}, {'a person' if seen.is_human else seen.event_type}: {seen.words}"]
    if message.role == "assistant":
        replies = [call.arguments for call in message.tool_calls if call.name == "reply"]
        return [f"you: {text}" for text in (message.content, *replies) if text]
    return []
