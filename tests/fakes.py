"""One scripted class for each seam of the mind: real behaviour, a script, and a record of what happened."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from agent.errors import ModelError, StreamBroken
from agent.model.interface import Answer, ArgumentsDelta, StreamItem, TextDelta, ToolCallStarted
from agent.model.messages import Message, ToolCall, ToolSpec, Usage
from agent.model.wire.openai import validate_tools
from agent.model.wire.profile import PROFILES
from agent.replies import Delivered, Reply, ReplyStream
from audio.tts.sentences import SentenceSplitter
from tests.agent.wire_form import wire_form

Scripted: TypeAlias = "Message | Exception | Callable[[Sequence[Message]], Message]"


def calls(*wanted: tuple[str, str], text: str = "", prefix: str = "call") -> Message:
    """An answer with these (name, arguments) calls; ids are `prefix_0`, `prefix_1` …"""
    made = tuple(ToolCall(f"{prefix}_{n}", name, arguments) for n, (name, arguments) in enumerate(wanted))
    return Message("assistant", text, made)


class ScriptedModel:
    """A `ChatModel` that says what the script says, piece by piece, and keeps every request."""

    sends_to = ()

    def __init__(self, *script: Scripted, name: str = "scripted", piece: int = 7, costs: Sequence[Usage] = ()) -> None:
        self.name = name
        self.script = list(script)
        self.requests: list[list[Message]] = []
        self.tools: list[tuple[ToolSpec, ...]] = []
        self.piece = piece
        self.costs = costs
        """Of the first answers, in order."""
        self.hold: dict[int, asyncio.Event] = {}
        """Request number -> an event that must be set before the last quarter of its answer comes."""

    async def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> AsyncGenerator[StreamItem, None]:
        number = len(self.requests)
        check(messages, tools)
        self.requests.append(list(messages))
        self.tools.append(tuple(tools))
        scripted = self.script.pop(0)
        message = scripted(messages) if callable(scripted) else scripted
        if isinstance(message, StreamBroken):
            for item in _items(message.partial, self.piece):
                yield item
            raise message
        if isinstance(message, Exception):
            raise message
        items = _items(message, self.piece)
        for index, item in enumerate(items):
            if index == len(items) * 3 // 4 and number in self.hold:
                await self.hold[number].wait()
            yield item
        yield Answer(message, self.costs[number] if number < len(self.costs) else Usage(100, 90, 10))

    async def warm(self) -> None:
        return None

    async def aclose(self) -> None:
        return None


def check(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> None:
    """Refuse what any provider would refuse. Raises `IllegalMessages`."""
    for profile in PROFILES.values():
        wire_form(messages, profile)
    validate_tools(tools)


def _items(message: Message, piece: int) -> list[StreamItem]:
    items: list[StreamItem] = [TextDelta(part) for part in _pieces(message.content, piece)]
    for index, call in enumerate(message.tool_calls):
        items.append(ToolCallStarted(index, call.id, call.name))
        items += [ArgumentsDelta(index, part) for part in _pieces(call.arguments, piece)]
    return items


def _pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


class UnreachableModel(ScriptedModel):
    """A model that is never there."""

    async def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> AsyncGenerator[StreamItem, None]:
        self.script.append(ModelError(f"{self.name} cannot be reached"))
        async for item in super().stream(messages, tools):
            yield item


@dataclass
class RecordingOutlet:
    """An `ReplySink` that keeps whole sentences in order, as a mouth would get them; playing takes no time."""

    said: list[str] = field(default_factory=list)
    heard_at: list[tuple[str, float]] = field(default_factory=list)
    """Of each sentence the event that it answers, and when it came, on the event loop's clock."""
    replies: list[Reply] = field(default_factory=list)
    sentence_said: asyncio.Event = field(default_factory=asyncio.Event)
    playing: asyncio.Event = field(default_factory=asyncio.Event)
    """Cleared, no delivery ends: it is still speaking."""
    writes: bool = False
    """Whether its replies are read rather than heard."""
    hears: str = ""
    """What is heard of each reply that is hushed while it plays."""
    deliveries: list["RecordingDelivery"] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.playing.set()

    def open(self, reply: Reply) -> ReplyStream:
        self.replies.append(reply)
        self.deliveries.append(RecordingDelivery(self, list(reply.already), reply.event.id))
        return self.deliveries[-1]

    def hush(self) -> None:
        """Be silent at once, as a mouth is."""
        for delivery in self.deliveries:
            if not self.playing.is_set() and delivery.sentences:
                delivery.hushed.set()


@dataclass
class RecordingDelivery:
    outlet: RecordingOutlet
    skip: list[str]
    event_id: str = ""
    splitter: SentenceSplitter = field(default_factory=SentenceSplitter)
    sentences: list[str] = field(default_factory=list)
    closed: bool = False
    hushed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def handed(self) -> str:
        return " ".join(self.sentences)

    async def feed(self, text: str) -> None:
        self._say(self.splitter.feed(text))

    async def close(self) -> None:
        if not self.closed:
            self.closed = True
            self._say(self.splitter.finish())

    async def cut(self) -> None:
        self.closed = True

    @property
    def is_written(self) -> bool:
        return self.outlet.writes

    @property
    def is_sounding(self) -> bool:
        return bool(self.sentences) and not (self.outlet.playing.is_set() or self.hushed.is_set())

    async def ended(self) -> Delivered:
        async with asyncio.TaskGroup() as either:
            waits = [either.create_task(event.wait()) for event in (self.outlet.playing, self.hushed)]
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            for wait in waits:
                wait.cancel()
        if self.hushed.is_set():
            return Delivered(self.handed, self.outlet.hears, interrupted=True)
        return Delivered(self.handed, self.handed)

    def _say(self, sentences: list[str]) -> None:
        for sentence in sentences:
            self.sentences.append(sentence)
            if sentence in self.skip:
                self.skip.remove(sentence)
                continue
            self.outlet.said.append(sentence)
            self.outlet.heard_at.append((self.event_id, asyncio.get_running_loop().time()))
            self.outlet.sentence_said.set()
