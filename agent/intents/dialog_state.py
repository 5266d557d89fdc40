"""What the offline model sees in a message list: the event in hand, what was done for it, and what came before."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agent.context.block import Block, parse
from agent.context.history import turns
from agent.context.summary import is_front
from agent.intents.intent import Language, language_of
from agent.model.messages import Message, ToolCall, ToolSpec
from agent.tools.registry.finding import RENAMED, has_more
from memory.chinese import simplified
from memory.json_value import Json, fields, parse_json

_OFFSET: Final = re.compile(r"UTC([+-])([01]\d|2[0-3]):([0-5]\d)")

_YEARS: Final = range(1970, 9000)
"""Years in which any sum of a few days is a date; a block of another year has nonsense in it."""

UNLISTED: Final = ("check_mailbox", "create_event", "device", "list_timers", "recall", "set_volume")
"""Tools of every box that are not listed where a model has little room; a call by name reaches them all the same."""

SAID_ELSEWHERE: Final = "reply in another room"
"""What a reply is called that does not go to whoever spoke."""

A_CONVERSATION: Final = timedelta(seconds=120)
"""A yes answers a question that was asked no longer ago: a conversation ends with two minutes of silence."""

_LONGEST_WAIT: Final = 366 * 86_400
"""Seconds; words do not wait longer than a year."""


class ToolResult(Struct, frozen=True):
    """A call of this turn with its result."""

    tool: str
    result: str
    arguments: str = ""
    """Of the call, as JSON."""

    def was_asked(self, **arguments: Json) -> bool:
        """Say whether the call had these arguments, whatever others."""
        return arguments.items() <= fields(_json(self.arguments)).items()

    def asked(self, name: str) -> str:
        """Return an argument of the call as text, "" where it had none of that name."""
        return str(fields(_json(self.arguments)).get(name, ""))

    @property
    def has_failed(self) -> bool:
        """Whether the result says that nothing came of it."""
        return self.result.startswith(("error:", "refused:", "not done:"))

    @property
    def is_uncertain(self) -> bool:
        """Whether the machine stopped while the tool ran, so that nobody knows what came of it."""
        return self.result.startswith("unknown:")

    @property
    def reason(self) -> str:
        """What the result says of a failure, as part of a sentence."""
        return self.result.partition(":")[2].strip().rstrip(".")

    @property
    def value(self) -> Json:
        """The result as JSON, None when it is none."""
        return _json(self.result)


class Turn(Struct, frozen=True):
    """One event as the messages tell it."""

    block: Block
    results: tuple[ToolResult, ...] = ()
    """Of its calls, in order."""
    replies: tuple[str, ...] = ()
    """What was said, in order, whether it came out whole or not."""

    @property
    def words(self) -> str:
        """What the person said, or what the event holds; Chinese in simplified characters."""
        return simplified(self.block.words)

    @property
    def ends_in_words(self) -> bool:
        """Whether the last thing done was to say something, and it came out whole."""
        if not self.results:
            return bool(self.replies)
        spoken = [each.result for each in self.results if each.tool == "reply"]
        return self.results[-1].tool in {"reply", "complete_event"} and spoken[-1:] == ["delivered"]


class Action(Struct, frozen=True):
    """A tool to call."""

    tool: str
    arguments: Mapping[str, Json]
    needs_model: bool = False
    """It only says, or makes, that another model has to do what was wanted."""


class DialogState(Struct, frozen=True):
    """All that a decision is made of."""

    turn: Turn
    earlier: tuple[Turn, ...]
    """The turns before, oldest first."""
    tools: Mapping[str, ToolSpec]
    language: Language
    """In which to speak: that of the words, or of the last words a person said."""

    @property
    def words(self) -> str:
        """What the person said, or what the event holds; Chinese in simplified characters."""
        return self.turn.words

    @property
    def is_doubtful(self) -> bool:
        """Whether the words were hard to hear."""
        return self.turn.block.evidence.get("confidence") == "low"

    @property
    def waited(self) -> int:
        """How long ago the words were said, in seconds, when that is worth telling; else 0."""
        told = self.turn.block.situation.get("Waited_Seconds", "")
        return int(told) if told.isdecimal() else 0

    @property
    def now(self) -> datetime | None:
        """The time of this moment at home, aware; None when the block does not tell."""
        told = self.turn.block.time
        if told is None or told.year not in _YEARS:
            return None
        moment = told + timedelta(seconds=min(self.waited, _LONGEST_WAIT))
        return moment.astimezone(_zone(self.turn.block.situation.get("Timezone", "")))

    def in_words(self, words: str) -> "DialogState":
        """Return the state as if the person had said it in these words."""
        return replace(self, turn=replace(self.turn, block=replace(self.turn.block, words=words)))

    def result(self, tool: str) -> ToolResult | None:
        """Return what came of the last call of a tool in this turn, None when there was none."""
        return next((each for each in reversed(self.turn.results) if each.tool == tool), None)

    def results(self, tool: str) -> list[ToolResult]:
        """Return what came of the calls of a tool in this turn, in order."""
        return [each for each in self.turn.results if each.tool == tool]

    def follows(self, before: Turn) -> bool:
        """Whether an earlier turn is of the same conversation."""
        then, now = before.block.time, self.turn.block.time
        return then is None or now is None or now - then <= A_CONVERSATION

    def last_said(self, most: int = 1) -> list[Turn]:
        """Return the last turns of people in this conversation, the newest first."""
        people = [turn for turn in reversed(self.earlier) if turn.block.is_human]
        return [turn for turn in people[:most] if self.follows(turn)]

    @property
    def digest(self) -> str:
        """What is told of turns that are no messages any more, "" where there are none."""
        fronts = [turn.block.words for turn in self.earlier if is_front(turn.block.words)]
        return fronts[-1] if fronts else ""

    def has(self, tool: str) -> bool:
        """Whether there is such a tool."""
        return tool in self.tools

    def action(self, tool: str, **arguments: Json) -> Action:
        """Return a call with those of the arguments that the tool knows."""
        takes = self.tools[tool].parameters if tool in self.tools else {"properties": {}}
        known = fields(takes.get("properties")) if takes else arguments
        return Action(tool, {name: value for name, value in arguments.items() if name in known})


def reachable(tools: Sequence[ToolSpec]) -> dict[str, ToolSpec]:
    """Return by name the tools that can be called; those that are not listed without telling what they take."""
    unlisted = {name: ToolSpec(name, "", {}) for name in UNLISTED} if has_more(tools) else {}
    unlisted |= {
        RENAMED[tool.name][0]: ToolSpec(RENAMED[tool.name][0], "", {}) for tool in tools if tool.name in RENAMED
    }
    return unlisted | {tool.name: tool for tool in tools}


def read_dialog(messages: Sequence[Message], tools: Sequence[ToolSpec], default: Language) -> DialogState:
    """Return the state of any message list, also of one that no provider would take."""
    found = [_turn(turn) for turn in turns(messages)] or [Turn(_plain(""))]
    spoken = [turn.block.words for turn in found if turn.block.is_human and turn.block.words.strip()]
    language = language_of((spoken or [found[-1].block.words])[-1])
    if not spoken and language == "en":
        language = default
    return DialogState(found[-1], tuple(found[:-1]), reachable(tools), language)


def _turn(messages: Sequence[Message]) -> Turn:
    block = _block(messages[0].content)
    named = {call.id: _name_of(call) for message in messages for call in message.tool_calls}
    asked = {call.id: call.arguments for message in messages for call in message.tool_calls}
    results = tuple(
        ToolResult(named.get(message.tool_call_id, ""), message.content, asked.get(message.tool_call_id, ""))
        for message in messages
        if message.role == "tool"
    )
    return Turn(block, results, tuple(text for message in messages[1:] for text in _said(message) if text))


def _block(content: str) -> Block:
    try:
        return parse(content) or replace(_plain(content), is_human=not is_front(content))
    except (ValueError, OverflowError):  # a block in form, with nonsense in it
        return _plain(content)


def _said(message: Message) -> list[str]:
    replies = [_text_of(call.arguments) for call in message.tool_calls if _name_of(call) == "reply"]
    return [message.content if message.role == "assistant" else "", *replies]


def _name_of(call: ToolCall) -> str:
    """Return the name of a call's tool; a reply that is said in another room is no answer."""
    is_elsewhere = call.name == "reply" and fields(_json(call.arguments)).get("room")
    return SAID_ELSEWHERE if is_elsewhere else call.name


def _text_of(arguments: str) -> str:
    text = fields(_json(arguments)).get("text")
    return text if isinstance(text, str) else ""


def _json(text: str) -> Json:
    try:
        return parse_json(text)
    except ValueError:
        return None


def _plain(words: str) -> Block:
    return Block(event_id="", event_type="user_text", source="", words=words, is_human=True, budget=0)


def _zone(told: str) -> timezone:
    offset = _OFFSET.search(told)
    if offset is None:
        return UTC
    sign, hours, minutes = offset.groups()
    length = timedelta(hours=int(hours), minutes=int(minutes))
    return timezone(-length if sign == "-" else length)
