"""Epochs: the message list of a session, which only grows until a new one is opened; kept in the journal."""

import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import Final

import structlog
from msgspec.structs import replace

from agent.bus import Bus
from agent.context import history, summary
from agent.context.carried import Beginning, Carried, Learnt, Limits, Shares, Weighed
from agent.context.epoch import Epoch, Prefix, body_of, front_of, opened_of
from agent.context.summary import Compression, Front
from agent.context.tokens import TokenCounter
from agent.errors import ContextTooLong, DamagedContext
from agent.event import SYSTEM, Event, new_id
from agent.model.messages import Message
from agent.record import step
from agent.tools.registry.finding import are_few
from memory.json_value import Json
from memory.state.journal import DAMAGED, Journal, Stored

log = structlog.get_logger()

EPOCH = "context.epoch"
MESSAGE = "context.message"

SESSIONS_IN_MEMORY = 16
"""Sessions kept loaded; any other is read back from the journal."""

IDLE_SECONDS: Final = 120.0
"""After so much silence a conversation is over, and a new prompt or a new tool may join."""

WORTHWHILE: Final = 0.95
"""Of its tokens that an epoch may have after it was cut to fit: with more than that nothing was gained."""

SALVAGED: Final = 200
"""Messages that are read back when the epoch that held them cannot be."""
FRONTS: Final = 8
"""Epochs whose fronts are looked at then, for what the agent keeps."""

LOST: Final = "Part of your context could not be read any more. This is what the journal still has of it."


class Contexts:
    """Hands out the open epoch of each (owner_key, session_id), opening a new one where it must be."""

    def __init__(
        self,
        journal: Journal,
        bus: Bus,
        limits: Limits,
        tokens: TokenCounter,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._journal = journal
        self._bus = bus
        self._limits = limits
        self._learnt: dict[str, Learnt] = {}
        """By the model an epoch was opened for: what its refusals have taught."""
        self._tokens = tokens
        self._clock = clock
        self._open: OrderedDict[tuple[str, str], Epoch] = OrderedDict()

    async def opened(self, event: Event) -> Epoch | None:
        """Return the epoch that is open in the event's session, None when there is none yet.

        Raises `DamagedContext` when the journal's account of it cannot be read.
        """
        return self._open.get((event.owner_key, event.session_id)) or await self._load(event)

    async def current(self, event: Event, run_id: str, wanted: Prefix) -> Epoch:
        """Return the epoch in which to handle an event: the open one if its prefix still holds and it is not full.

        Another model begins a new one, and so does a window for which other tools are offered. Another prompt, a new
        or changed tool do so only when the conversation was over, or after `renew`; a tool that vanished never does by
        itself. An event that is already in the open epoch (handed over before a crash or a suspension) stays in it. One
        that cannot be read is given up, and a new one begun from what the journal still has. No model is asked here.
        """
        try:
            epoch = await self.opened(event)
        except DamagedContext as damage:
            log.error("context_damaged", session=event.session_id, reason=str(damage))  # noqa: TRY400  no bug of ours
            opening = await self._salvaged(event)
            epoch = await self._begin(event, run_id, wanted, opening)
            epoch.follows_damage = True
        if epoch is None:
            epoch = await self._begin(event, run_id, wanted, Beginning(None, []))
        elif epoch.position_of(event.id) is None and (self._is_stale(epoch, wanted) or self.is_full(epoch, event)):
            opening = self._carried(epoch).by_rule(epoch)
            if epoch.model != wanted.model:  # a provider's own fields mean nothing to another
                opening = replace(opening, rest=[replace(message, extra={}) for message in opening.rest])
            epoch = await self._begin(event, run_id, wanted, opening)
        self._keep_open(event, epoch)
        return epoch

    def is_full(self, epoch: Epoch, coming: Event | None = None) -> bool:
        """Whether the next event should find a new one; `coming` is that event: the list must be readable with it."""
        shares = self._shares(epoch)
        if coming is not None and not epoch.can_show(coming.images):
            return True
        if coming is None or not shares.most:
            return epoch.tokens > shares.full
        words = min(self._tokens.count(coming.content), (shares.full - epoch.prefix_tokens) // 4)
        return epoch.tokens > shares.full or epoch.tokens + words > shares.most

    def is_due(self, epoch: Epoch, event: Event) -> bool:
        """Whether to begin anew while the event is in hand: only where that leaves something behind but the event."""
        start = epoch.position_of(event.id) or 0
        return self.is_full(epoch) and epoch.opened_by != event.id and start > 1

    def is_too_long(self, epoch: Epoch) -> bool:
        """Whether the models in question are known not to read it as it is."""
        most = self._shares(epoch).most
        return 0 < most < epoch.tokens

    def learn(self, epoch: Epoch, refusal: ContextTooLong) -> None:
        """Take note that this list was refused for its length: the epochs of this model stay below that from now on."""
        known = self._learnt.get(epoch.model, Learnt())
        learnt = self._learnt[epoch.model] = known.after_refusal(epoch.tokens, epoch.prefix_tokens, refusal)
        log.warning(
            "context_too_long", tokens=epoch.tokens, window=refusal.window, asked=refusal.asked, most=learnt.most
        )

    def accepted(self, epoch: Epoch) -> None:
        """Take note that its model has answered this list: what was learnt otherwise of its length was wrong."""
        if known := self._learnt.get(epoch.model):
            self._learnt[epoch.model] = known.after_answer(epoch.tokens)

    async def fit(self, epoch: Epoch, event: Event, wanted: Prefix | None = None) -> Epoch:
        """Open an epoch that is as short as is known to be needed, by a rule; the same one where nothing is gained.

        Long texts of the event in hand are cut; the journal has them whole. `wanted` takes the place of its prefix
        where it offers other tools. At a legal boundary only: every call of the event has its result.
        """
        under = epoch if wanted is None else self._under(epoch, wanted)
        opening = (carried := self._carried(under)).to_fit(under, event.id)
        if under.prefix_tokens + carried.cost(opening.messages) > WORTHWHILE * epoch.tokens:
            return epoch
        return await self.anew(under, event, opening)

    def _under(self, epoch: Epoch, wanted: Prefix) -> Epoch:
        """Return what an epoch would be under a prefix for another window; the same one for the same tools."""
        if are_few(epoch.tools) == are_few(wanted.tools):
            return epoch
        messages = [Message("system", wanted.system), *epoch.messages[1:]]
        return self._grown(epoch.id, wanted, epoch.opened_by, messages, epoch.front)

    async def abandon(self, epoch: Epoch, event: Event, note: str) -> Epoch:
        """Give up an epoch that no provider takes, and open one with the event in hand as it was handed over.

        `note` tells what was done for the event so far.
        """
        log.error("context_illegal", session=event.session_id, epoch=epoch.id)
        start = epoch.position_of(event.id)
        handed_over = [] if start is None else [epoch.messages[start]]
        told = await self._salvaged(event, turns=False)
        front = told.front or Front(damage=LOST)
        opening = Beginning(replace(front, lines=(*front.lines, note)), handed_over)
        anew = await self.anew(epoch, event, opening)
        anew.follows_damage = True
        return anew

    def has_room(self, epoch: Epoch, tokens: int) -> bool:
        """Whether so much more leaves a quarter of what is behind the prefix to what comes."""
        full = self._shares(epoch).full
        return epoch.tokens + tokens <= full - (full - epoch.prefix_tokens) // 4

    def gauge(self, epoch: Epoch) -> str:
        """Return how full it is, and what will leave it next; "" below half of what is behind the prefix."""
        return self._carried(epoch).gauge(epoch)

    def weigh(self, event: Event, wanted: Compression) -> Weighed:
        """Return what will become of what the agent wants to carry on, before it takes effect. Raises KeyError."""
        epoch = self.loaded(event.owner_key, event.session_id)
        return self._carried(epoch).weigh(epoch, wanted, event.id)

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
        name, carried = event.id if in_hand else "", self._carried(epoch)
        return await self.anew(
            epoch, event, carried.by_model(epoch, account, name) if account else carried.by_rule(epoch, name)
        )

    async def compress(self, epoch: Epoch, event: Event, wanted: Compression) -> Epoch:
        """Open a new epoch with its summary of what came before and what it keeps; the event in hand stays whole.

        What goes beyond its share is named, not kept (see `weigh`). To be called at a legal boundary only: every call
        of the event has its result.
        """
        return await self.anew(epoch, event, self._carried(epoch).by_agent(epoch, wanted, event.id))

    async def leave_out(self, event: Event, events: Collection[str], words: Collection[str]) -> bool:
        """Open a new epoch of the event's session without the turns of these events, nor lines that hold the words.

        What anybody told in words of their own goes whole where it may tell of them. Between two runs only. No earlier
        epoch of the session is read again. False where there is none that can be read.
        """
        try:
            epoch = await self.opened(event)
        except DamagedContext:
            return False
        if epoch is None:
            return False
        kept, front = history.without(epoch.talk, events), epoch.front and epoch.front.without([*words])
        if any((epoch.position_of(name) or 0) < epoch.opening_messages for name in events):
            kept = [summary.without_account(message) for message in kept]
            front = front and front.without_accounts()
        front = front if front != Front() else None
        # Its cause must not be an event whose entries are erased.
        cause = Event(SYSTEM, owner_key=event.owner_key, session_id=event.session_id)
        await self.anew(epoch, cause, Beginning(front, kept))
        return True

    def append(self, epoch: Epoch, message: Message) -> None:
        """Append a message that is in the journal already (see `envelope`)."""
        epoch.grow(message, self._tokens.of_message(message))
        epoch.grown_at = self._clock()
        if epoch.tokens > self._limits().exact_from:
            self._tokens.need()

    def envelope(self, epoch: Epoch, event: Event, run_id: str, message: Message, cycle: str = "") -> Event:
        """Return the envelope to publish before `append`; `cycle` names the round of thought and action it is of."""
        body: dict[str, Json] = {"epoch": epoch.id, "message": message.to_json()}
        return step(MESSAGE, event, run_id, body | ({"cycle": cycle} if cycle else {}))

    def _is_stale(self, epoch: Epoch, wanted: Prefix) -> bool:
        """Whether an epoch opened now would have another prefix, and may have it."""
        if epoch.model != wanted.model or are_few(epoch.tools) != are_few(wanted.tools):
            return True
        if not epoch.is_outdated and self._clock() - epoch.grown_at <= IDLE_SECONDS:
            return False
        return epoch.system != wanted.system or any(spec not in epoch.tools for spec in wanted.tools)

    def _shares(self, epoch: Epoch) -> Shares:
        return self._limits().shares(epoch.prefix_tokens, self._learnt.get(epoch.model, Learnt()).most)

    def _carried(self, epoch: Epoch) -> Carried:
        return Carried(self._tokens, self._shares(epoch))

    async def _load(self, event: Event) -> Epoch | None:
        """Read the session's last epoch back: the entry that opened it, and all that was appended since."""
        found = await self._entries(event, EPOCH, newest=True, limit=1)
        if not found or not (found[0].is_whole or DAMAGED in found[0].body):
            return None
        since = await self._entries(event, MESSAGE, after=found[0].seq)
        try:
            return self._read_back(found[0], since)
        except ValueError as error:
            raise DamagedContext(f"epoch {found[0].id}: {error}") from error

    async def _entries(
        self, event: Event, topic: str, after: int = 0, limit: int = -1, *, newest: bool = False
    ) -> list[Stored]:
        """Return the session's entries of a topic; see `Journal.entries`."""
        owner, session = event.owner_key, event.session_id
        return await self._journal.entries(
            topic=topic, owner_key=owner, session_id=session, after=after, limit=limit, newest=newest
        )

    def _read_back(self, entry: Stored, since: Sequence[Stored]) -> Epoch:
        """Return the epoch that these entries tell. Raises ValueError where one of them is damaged."""
        opened = opened_of(entry)
        prefix = Prefix("", opened.tools, opened.model)
        epoch = self._grown(opened.epoch, prefix, entry.event_id, opened.messages, opened.front)
        for grown in since:
            if DAMAGED in grown.body:
                raise ValueError(f"entry {grown.id} is no JSON")
            if grown.body.get("epoch") == epoch.id:
                self.append(epoch, Message.from_json(grown.body.get("message")))
        epoch.grown_at = float("-inf")
        return epoch

    async def _salvaged(self, event: Event, *, turns: bool = True) -> Beginning:
        """Return what a session's journal still holds: what the agent keeps, and the newest turns that can be read.

        Without `turns` only what was said in them, in lines.
        """
        opened = await self._entries(event, EPOCH, newest=True, limit=FRONTS)
        front = next((front for entry in reversed(opened) if (front := front_of(entry))), None)
        found = Epoch("", (), [Message("system"), *([front.message()] if front else [])], front=front)
        for entry in await self._entries(event, MESSAGE, newest=True, limit=SALVAGED):
            with suppress(ValueError):
                found.messages.append(Message.from_json(entry.body.get("message")))
        shares = self._limits().shares(0)
        opening = Carried(self._tokens, shares if turns else replace(shares, history=0)).by_rule(found)
        return replace(opening, front=replace(opening.front or Front(), left="", damage=LOST))

    async def anew(self, epoch: Epoch, event: Event, opening: Beginning) -> Epoch:
        """Open the session's next epoch with the same prefix; between two steps of a run only."""
        prefix = Prefix(epoch.system, epoch.tools, epoch.model)
        anew = await self._begin(event, "", prefix, opening)
        anew.is_outdated = epoch.is_outdated
        self._keep_open(event, anew)
        return anew

    async def _begin(self, event: Event, run_id: str, prefix: Prefix, opening: Beginning) -> Epoch:
        """Write a new epoch down, with all that it is opened with."""
        messages = [Message("system", prefix.system), *opening.messages]
        epoch = self._grown(new_id(), prefix, event.id, messages, opening.front)
        body = body_of(epoch.id, prefix, messages, opening.front)
        # The entry has the epoch's id, so that whoever has the one finds the other.
        await self._bus.publish(replace(step(EPOCH, event, run_id, body), id=epoch.id))
        return epoch

    def _grown(
        self, name: str, prefix: Prefix, opened_by: str, messages: Sequence[Message], front: Front | None
    ) -> Epoch:
        tools = self._tokens.of_tools(prefix.tools)
        epoch = Epoch(name, prefix.tools, [], tools, prefix.model, opened_by, front, len(messages))
        for message in messages:
            self.append(epoch, message)
        epoch.prefix_tokens = tools + self._tokens.of_message(messages[0])
        return epoch

    def _keep_open(self, event: Event, epoch: Epoch) -> None:
        key = (event.owner_key, event.session_id)
        self._open[key] = epoch
        self._open.move_to_end(key)
        while len(self._open) > SESSIONS_IN_MEMORY:
            self._open.popitem(last=False)
