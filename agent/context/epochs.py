"""Epochs: the message list of a session, which only grows until a new one is opened; kept in the journal."""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from agent.bus import Bus
from agent.context import history
from agent.context.tokens import TokenCounter
from agent.event import SYSTEM, Event, new_id
from agent.model.messages import Json, Message, ToolSpec
from agent.record import step
from memory.journal import Journal

EPOCH = "context.epoch"
MESSAGE = "context.message"

SESSIONS_IN_MEMORY = 16
"""Sessions kept loaded; any other is read back from the journal."""


@dataclass(frozen=True, slots=True)
class ContextLimits:
    """How much an epoch may hold, and how much the next one takes along."""

    history_messages: int = 20
    """seeds/000: the newest 20."""
    history_tokens: int = 4_000
    """seeds/003: trimmed to 4,000."""
    compress_above_tokens: int = 24_000


@dataclass(slots=True)
class Epoch:
    """One stretch of a session's context. `messages` is only ever appended to."""

    id: str
    tools: tuple[ToolSpec, ...]
    messages: list[Message] = field(default_factory=list)
    tokens: int = 0
    """Of messages and tools, counted as they came."""
    _hash: "hashlib._Hash" = field(default_factory=hashlib.sha256)

    @property
    def digest(self) -> str:
        """SHA-256 over the journal forms of the messages so far, one a line: proves a rebuilt list equal."""
        return self._hash.hexdigest()

    def grow(self, message: Message, tokens: int) -> None:
        """Append a message and what it costs."""
        self.messages.append(message)
        self.tokens += tokens
        self._hash.update(json.dumps(message.to_json(), ensure_ascii=False).encode() + b"\n")

    @property
    def system(self) -> str:
        """The system prompt it was opened with."""
        return self.messages[0].content

    def position_of(self, event_id: str) -> int | None:
        """Return the index of the user message that handed over the event, None when it is not in this epoch."""
        mark = f'id="{event_id}"'
        for index in range(len(self.messages) - 1, 0, -1):
            message = self.messages[index]
            if message.role == "user" and mark in message.content:
                return index
        return None


class Contexts:
    """Hands out the open epoch of each (owner_key, session_id), opening a new one where it must be."""

    def __init__(self, journal: Journal, bus: Bus, limits: ContextLimits, tokens: TokenCounter) -> None:
        self._journal = journal
        self._bus = bus
        self._limits = limits
        self._tokens = tokens
        self._open: OrderedDict[tuple[str, str], Epoch] = OrderedDict()

    async def current(self, event: Event, run_id: str, system: str, tools: tuple[ToolSpec, ...]) -> Epoch:
        """Return the epoch in which to handle an event: the open one if its prefix still holds and it is not full.

        An event that is already in the open epoch (handed over before a crash or a suspension) stays in it.
        """
        key = (event.owner_key, event.session_id)
        epoch = self._open.get(key) or await self._load(event)
        if epoch is not None and epoch.position_of(event.id) is None:
            same_prefix = epoch.system == system and epoch.tools == tools
            if not same_prefix or epoch.tokens > self._limits.compress_above_tokens:
                left, taken = self._split(epoch.messages)
                epoch = await self._begin(event, run_id, (system, tools), _opening(history.digest(left), taken))
        if epoch is None:
            epoch = await self._begin(event, run_id, (system, tools), [])
        self._open[key] = epoch
        self._open.move_to_end(key)
        while len(self._open) > SESSIONS_IN_MEMORY:
            self._open.popitem(last=False)
        return epoch

    def loaded(self, owner_key: str, session_id: str) -> Epoch:
        """Return the open epoch of a session that is in memory. Raises KeyError."""
        return self._open[owner_key, session_id]

    async def compress(self, epoch: Epoch, event: Event, run_id: str, summary: str) -> Epoch:
        """Open a new epoch with her summary of what came before; the event in hand is taken along whole.

        To be called at a legal boundary only: every call of the event has its result.
        """
        start = epoch.position_of(event.id)
        kept = epoch.messages[start:] if start is not None else []
        opened = await self._begin(event, run_id, (epoch.system, epoch.tools), _opening(summary, kept))
        self._open[event.owner_key, event.session_id] = opened
        return opened

    async def leave_out(self, event: Event, events: Collection[str], words: Collection[str]) -> bool:
        """Open a new epoch of the event's session without the turns of these events, nor lines that hold the words.

        Between two runs only. No earlier epoch of the session is read again. False where there is none.
        """
        key = (event.owner_key, event.session_id)
        epoch = self._open.get(key) or await self._load(event)
        if epoch is None:
            return False
        kept = history.without(epoch.messages, events, words)
        # Its cause must not be an event whose entries are erased.
        cause = Event(SYSTEM, owner_key=event.owner_key, session_id=event.session_id)
        self._open[key] = await self._begin(cause, "", (epoch.system, epoch.tools), kept)
        return True

    def append(self, epoch: Epoch, message: Message) -> None:
        """Append a message that is in the journal already (see `envelope`)."""
        epoch.grow(message, self._tokens.of_message(message))

    def envelope(self, epoch: Epoch, event: Event, run_id: str, message: Message, cycle: str = "") -> Event:
        """Return the envelope to publish before `append`; `cycle` names the round of thought and action it is of."""
        body: dict[str, Json] = {"epoch": epoch.id, "message": message.to_json()}
        return step(MESSAGE, event, run_id, body | ({"cycle": cycle} if cycle else {}))

    async def _load(self, event: Event) -> Epoch | None:
        owner, session = event.owner_key, event.session_id
        opened = await self._journal.entries(topic=EPOCH, owner_key=owner, session_id=session, newest=True, limit=1)
        if not opened:
            return None
        body = cast("dict[str, Any]", opened[0].body)
        tools = tuple(ToolSpec(t["name"], t["description"], t["parameters"]) for t in body["tools"])
        messages = [Message.from_json(message) for message in body["messages"]]
        since = await self._journal.entries(topic=MESSAGE, owner_key=owner, session_id=session, after=opened[0].seq)
        for entry in since:
            grown = cast("dict[str, Any]", entry.body)
            if grown["epoch"] == body["epoch"]:
                messages.append(Message.from_json(grown["message"]))
        return self._grown(body["epoch"], tools, messages)

    async def _begin(
        self, event: Event, run_id: str, prefix: tuple[str, tuple[ToolSpec, ...]], opening: Sequence[Message]
    ) -> Epoch:
        system, tools = prefix
        epoch = self._grown(new_id(), tools, [Message("system", system), *opening])
        described: list[Json] = [
            {"name": t.name, "description": t.description, "parameters": dict(t.parameters)} for t in tools
        ]
        body: dict[str, Json] = {
            "epoch": epoch.id,
            "tools": described,
            "messages": [message.to_json() for message in epoch.messages],
        }
        await self._bus.publish(step(EPOCH, event, run_id, body))
        return epoch

    def _grown(self, name: str, tools: tuple[ToolSpec, ...], messages: Sequence[Message]) -> Epoch:
        epoch = Epoch(name, tools, tokens=self._tokens.of_tools(tools))
        for message in messages:
            self.append(epoch, message)
        return epoch

    def _split(self, messages: Sequence[Message]) -> tuple[list[Message], list[Message]]:
        limits = self._limits
        return history.split(messages, limits.history_messages, limits.history_tokens, self._tokens.of_message)


def _opening(summary: str, taken: Sequence[Message]) -> list[Message]:
    if not summary:
        return list(taken)
    return [Message("user", f"What came before, in short:\n{summary}"), *taken]
