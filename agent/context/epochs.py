"""Epochs: the message list of a session, which only grows until a new one is opened; kept in the journal."""

import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

from agent.bus import Bus
from agent.context import history, summary
from agent.context.epoch import Epoch, Prefix
from agent.context.summary import Compression, Front
from agent.context.tokens import TokenCounter
from agent.event import SYSTEM, Event, new_id
from agent.model.messages import Message, ToolSpec
from agent.record import step
from memory.json_value import Json
from memory.state.journal import ERASED, THINNED, Journal, Stored

_NAMED: Final = 40
"""Characters by which a text that is too long to keep is named."""

EPOCH = "context.epoch"

MESSAGE = "context.message"

SESSIONS_IN_MEMORY = 16
"""Sessions kept loaded; any other is read back from the journal."""

IDLE_SECONDS: Final = 120.0
"""After so much silence a conversation is over, and a new prompt or a new tool may join."""

GROWN_BY: Final = 1.5
"""An epoch is not full before it has grown by so much: else a large prompt would begin it anew at every event."""


@dataclass(frozen=True, slots=True)
class Carried:
    """Builds the first messages of an epoch from the one before it, with a summary by a rule, a model or the agent.

    No model is asked here.
    """

    most_messages: int
    most_tokens: int
    """Of the newest turns together. An event in hand counts, and stays whole whatever it holds."""
    summary_tokens: int
    """The longest summary; the rest of a longer one is cut off."""
    tokens: TokenCounter

    def by_rule(self, epoch: Epoch, in_hand: str = "") -> list[Message]:
        """Return the newest turns, behind a digest of what they leave behind. `in_hand` is an event's id, if any is."""
        left, taken = self._newest(epoch, in_hand)
        digest = summary.by_rule(left, epoch.id, lambda text: self.tokens.count(text) <= self.summary_tokens)
        return [*digest, *taken]

    def by_model(self, epoch: Epoch, account: str, in_hand: str = "") -> list[Message]:
        """Return the newest turns, behind what a model told of the whole epoch."""
        _, taken = self._newest(epoch, in_hand)
        return [self._front(epoch, account).message(), *taken]

    def by_agent(self, epoch: Epoch, wanted: Compression, in_hand: str) -> list[Message]:
        """Return the turns it keeps and the event in hand, behind its own summary and the texts it keeps.

        All it keeps has `most_tokens` together; what goes beyond is named.
        """
        turns = {name: turn for turn in history.turns(epoch.messages) if (name := history.event_of(turn))}
        kept = self._kept([item for item in wanted.keep if item != in_hand], turns)
        taken = [message for name, turn in turns.items() if name in kept.events for message in turn]
        front = replace(self._front(epoch, wanted.summary), kept=kept.texts, too_long=kept.too_long)
        start = epoch.position_of(in_hand)
        return [front.message(), *taken, *([] if start is None else epoch.messages[start:])]

    def _newest(self, epoch: Epoch, in_hand: str) -> tuple[list[Message], list[Message]]:
        """Return what is left behind, and what is taken along: the event in hand whole, before it what has room."""
        start = (epoch.position_of(in_hand) if in_hand else None) or len(epoch.messages)
        before, event = epoch.messages[:start], epoch.messages[start:]
        cost = self.tokens.of_message
        room = max(0, self.most_tokens - sum(map(cost, event)))
        left, taken = history.split(before, max(0, self.most_messages - len(event)), room, cost)
        return left, [*taken, *event]

    def _kept(self, items: Sequence[str], turns: dict[str, list[Message]]) -> "_Kept":
        """Return which of these find room, each once and in their order: ids of turns, and any other texts."""
        kept, room = _Kept(), self.most_tokens
        for item in dict.fromkeys(items):
            turn = turns.get(item)
            cost = self.tokens.count(item) if turn is None else sum(map(self.tokens.of_message, turn))
            if cost > room or not history.is_answered(turn or []):
                kept.too_long.append(f"{item[:_NAMED]}…" if turn is None else item)
                continue
            room -= cost
            (kept.texts if turn is None else kept.events).append(item)
        return kept

    def _front(self, epoch: Epoch, account: str) -> Front:
        return Front(self.tokens.cut(account, self.summary_tokens), summary.BY_MODEL, epoch.id)


@dataclass(frozen=True, slots=True)
class _Kept:
    """What it wanted to keep, by what becomes of it."""

    events: list[str] = field(default_factory=list)
    """Ids of the events whose turns stay."""
    texts: list[str] = field(default_factory=list)
    too_long: list[str] = field(default_factory=list)
    """Ids of events, and beginnings of texts, that find no room."""


@dataclass(frozen=True, slots=True)
class ContextLimits:
    """How much an epoch may hold, and how much the next one takes along."""

    history_messages: int = 20
    """Of the newest messages."""
    history_tokens: int = 4_000
    """Of the newest messages together."""
    compress_above_tokens: int = 24_000
    summary_tokens: int = 1_000
    """The longest summary; the rest of a longer one is cut off."""


class Contexts:
    """Hands out the open epoch of each (owner_key, session_id), opening a new one where it must be."""

    def __init__(
        self,
        journal: Journal,
        bus: Bus,
        limits: ContextLimits,
        tokens: TokenCounter,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._journal = journal
        self._bus = bus
        self._limits = limits
        self._carried = Carried(limits.history_messages, limits.history_tokens, limits.summary_tokens, tokens)
        self._tokens = tokens
        self._clock = clock
        self._open: OrderedDict[tuple[str, str], Epoch] = OrderedDict()

    async def opened(self, event: Event) -> Epoch | None:
        """Return the epoch that is open in the event's session, None when there is none yet."""
        return self._open.get((event.owner_key, event.session_id)) or await self._load(event)

    async def current(self, event: Event, run_id: str, wanted: Prefix) -> Epoch:
        """Return the epoch in which to handle an event: the open one if its prefix still holds and it is not full.

        Another model begins a new one. Another prompt, a new or changed tool do so only when the conversation was
        over, or after `renew`; a tool that vanished never does by itself. An event that is already in the open epoch
        (handed over before a crash or a suspension) stays in it. No model is asked here, somebody may be waiting.
        """
        epoch = await self.opened(event)
        if epoch is None:
            epoch = await self._begin(event, run_id, wanted, [])
        elif epoch.position_of(event.id) is None and (self._is_stale(epoch, wanted) or self.is_full(epoch)):
            opening = self._carried.by_rule(epoch)
            if epoch.model != wanted.model:  # a provider's own fields mean nothing to another
                opening = [replace(message, extra={}) for message in opening]
            epoch = await self._begin(event, run_id, wanted, opening)
        self._keep_open(event, epoch)
        return epoch

    def is_full(self, epoch: Epoch) -> bool:
        """Whether the next event should find a new one."""
        return epoch.tokens > max(self._limits.compress_above_tokens, GROWN_BY * epoch.opening_tokens)

    def is_due(self, epoch: Epoch, event: Event) -> bool:
        """Whether to begin anew while the event is in hand: only where that leaves something behind but the event."""
        start = epoch.position_of(event.id) or 0
        return self.is_full(epoch) and epoch.opened_by != event.id and start > 1

    def loaded(self, owner_key: str, session_id: str) -> Epoch:
        """Return the open epoch of a session that is in memory. Raises KeyError."""
        return self._open[owner_key, session_id]

    def renew(self, owner_key: str) -> None:
        """Let another prompt join at the next event of each of an owner's sessions: they have asked for it."""
        for (owner, _), epoch in self._open.items():
            epoch.is_outdated |= owner == owner_key

    def let_go(self, owner_key: str) -> None:
        """Hold none of an owner's contexts in memory any more; what the journal has of them is read when asked for."""
        for key in [key for key in self._open if key[0] == owner_key]:
            del self._open[key]

    async def sum_up(self, epoch: Epoch, event: Event, account: str, *, in_hand: bool) -> Epoch:
        """Open a new epoch with the model's account of the one before, by rule where it is "".

        The newest turns are taken along within the limits; an event in hand whole, whatever it holds. To be called at
        a legal boundary only: every call of the event has its result. What was forgotten while the model summed up is
        summed up no more: then the epoch is returned as it is.
        """
        if self._open.get((event.owner_key, event.session_id)) is not epoch:
            return epoch
        name = event.id if in_hand else ""
        opening = self._carried.by_model(epoch, account, name) if account else self._carried.by_rule(epoch, name)
        return await self._anew(epoch, event, opening)

    async def compress(self, epoch: Epoch, event: Event, wanted: Compression) -> Epoch:
        """Open a new epoch with its summary of what came before and what it keeps; the event in hand stays whole.

        What it keeps has `history_tokens` together; what goes beyond is named, not kept. To be called at a legal
        boundary only: every call of the event has its result.
        """
        return await self._anew(epoch, event, self._carried.by_agent(epoch, wanted, event.id))

    async def leave_out(self, event: Event, events: Collection[str], words: Collection[str]) -> bool:
        """Open a new epoch of the event's session without the turns of these events, nor lines that hold the words.

        A summary that a model wrote goes whole where it may tell of them. Between two runs only. No earlier epoch of
        the session is read again. False where there is none.
        """
        epoch = await self.opened(event)
        if epoch is None:
            return False
        kept = history.without(epoch.messages, events, words)
        places = [epoch.position_of(name) or 0 for name in events]
        if any(place < epoch.opening_messages for place in places):
            kept = [summary.without_account(message) for message in kept if not summary.is_by_model(message)]
        # Its cause must not be an event whose entries are erased.
        cause = Event(SYSTEM, owner_key=event.owner_key, session_id=event.session_id)
        await self._anew(epoch, cause, kept)
        return True

    def append(self, epoch: Epoch, message: Message) -> None:
        """Append a message that is in the journal already (see `envelope`)."""
        epoch.grow(message, self._tokens.of_message(message))
        epoch.grown_at = self._clock()

    def envelope(self, epoch: Epoch, event: Event, run_id: str, message: Message, cycle: str = "") -> Event:
        """Return the envelope to publish before `append`; `cycle` names the round of thought and action it is of."""
        body: dict[str, Json] = {"epoch": epoch.id, "message": message.to_json()}
        return step(MESSAGE, event, run_id, body | ({"cycle": cycle} if cycle else {}))

    def _is_stale(self, epoch: Epoch, wanted: Prefix) -> bool:
        """Whether an epoch opened now would have another prefix, and may have it."""
        if epoch.model != wanted.model:
            return True
        frozen = {spec.name: spec for spec in epoch.tools}
        has_new_tools = any(frozen.get(spec.name) != spec for spec in wanted.tools)
        is_over = epoch.is_outdated or self._clock() - epoch.grown_at > IDLE_SECONDS
        return is_over and (has_new_tools or epoch.system != wanted.system)

    async def _load(self, event: Event) -> Epoch | None:
        """Read the session's last epoch back: the entry that opened it, and all that was appended since."""
        owner, session = event.owner_key, event.session_id
        found = await self._journal.entries(topic=EPOCH, owner_key=owner, session_id=session, newest=True, limit=1)
        if not found or THINNED in found[0].body or ERASED in found[0].body:
            return None
        body = cast("dict[str, Any]", found[0].body)
        prefix = Prefix("", tools_of(found[0]), body.get("model", ""))
        messages = [Message.from_json(message) for message in body["messages"]]
        epoch = self._grown(body["epoch"], prefix, found[0].event_id, messages)
        since = await self._journal.entries(topic=MESSAGE, owner_key=owner, session_id=session, after=found[0].seq)
        for entry in since:
            grown = cast("dict[str, Any]", entry.body)
            if grown.get("epoch") == epoch.id:
                self.append(epoch, Message.from_json(grown["message"]))
        epoch.grown_at = float("-inf")
        return epoch

    async def _anew(self, epoch: Epoch, event: Event, messages: Sequence[Message]) -> Epoch:
        """Open the session's next epoch with the same prefix."""
        prefix = Prefix(epoch.system, epoch.tools, epoch.model)
        anew = await self._begin(event, "", prefix, messages)
        anew.is_outdated = epoch.is_outdated
        self._keep_open(event, anew)
        return anew

    async def _begin(self, event: Event, run_id: str, prefix: Prefix, opening: Sequence[Message]) -> Epoch:
        """Write a new epoch down, with all that it is opened with."""
        epoch = self._grown(new_id(), prefix, event.id, [Message("system", prefix.system), *opening])
        described: list[Json] = [
            {"name": t.name, "description": t.description, "parameters": dict(t.parameters)} for t in prefix.tools
        ]
        body: dict[str, Json] = {
            "epoch": epoch.id,
            "model": prefix.model,
            "tools": described,
            "messages": [message.to_json() for message in epoch.messages],
        }
        # The entry has the epoch's id, so that whoever has the one finds the other.
        await self._bus.publish(replace(step(EPOCH, event, run_id, body), id=epoch.id))
        return epoch

    def _grown(self, name: str, prefix: Prefix, opened_by: str, messages: Sequence[Message]) -> Epoch:
        epoch = Epoch(name, prefix.tools, [], self._tokens.of_tools(prefix.tools), prefix.model, opened_by)
        for message in messages:
            self.append(epoch, message)
        epoch.opening_messages, epoch.opening_tokens = len(epoch.messages), epoch.tokens
        return epoch

    def _keep_open(self, event: Event, epoch: Epoch) -> None:
        key = (event.owner_key, event.session_id)
        self._open[key] = epoch
        self._open.move_to_end(key)
        while len(self._open) > SESSIONS_IN_MEMORY:
            self._open.popitem(last=False)


def tools_of(opened: Stored) -> tuple[ToolSpec, ...]:
    """Return the tools that the entry of an epoch tells."""
    body = cast("dict[str, Any]", opened.body)
    return tuple(ToolSpec(t["name"], t["description"], t["parameters"]) for t in body["tools"])
