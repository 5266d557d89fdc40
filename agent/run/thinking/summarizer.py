"""Begins a full context anew, with a summary by the agent, a model call or a rule."""

import asyncio
from contextlib import aclosing
from dataclasses import dataclass, field
from time import monotonic
from typing import Final

import structlog

from agent.bus import Bus
from agent.context.epoch import Epoch, Prefix, digest_of
from agent.context.epochs import Contexts
from agent.context.summary import REQUEST
from agent.errors import ContextTooLong, IllegalMessages, ModelError, Stopped
from agent.event import Event
from agent.model.interface import OFFLINE, Answer, ChatModel
from agent.record import step
from agent.run.closing import last_calls
from agent.run.run import Run, Stop
from agent.run.run_state import RunState
from agent.run.thinking.think import Thinker
from memory.json_value import Json

log = structlog.get_logger()

SUMMARY_SECONDS: Final = 30.0
"""How long a model may take over a summary; then a rule makes it."""

SUMMARY: Final = "summary"
"""The `purpose` of such a call in the journal."""


@dataclass(slots=True)
class Summarizer:
    """Begins a context anew at legal boundaries: between two rounds of an event, and after an event.

    The model is asked for the summary once, and not at all when a person waits; where it fails, is too slow or is
    broken off, a rule makes it. What that costs is journaled, and is not charged to the event.
    """

    thinker: Thinker
    bus: Bus
    contexts: Contexts
    run_state: RunState
    _resting: Stop | None = field(default=None, init=False)

    async def as_asked(self, run: Run) -> None:
        """Begin anew with its own summary, if it called compress_context in the round that is over."""
        wanted, self.run_state.compression = self.run_state.compression, None
        if wanted is not None:
            run.epoch = await self.contexts.compress(run.epoch, run.event, wanted)

    async def before_thought(self, run: Run) -> None:
        """Begin anew after a round of tools, if the context is full and more is in it than the event in hand.

        One that is longer than the model is known to read is cut to fit at once. Raises `Stopped` when the run is
        stopped meanwhile; nothing has changed then.
        """
        if self.contexts.is_too_long(run.epoch):
            run.epoch = await self.contexts.fit(run.epoch, run.event)
        elif run.last.role == "tool" and self.contexts.is_due(run.epoch, run.event):
            async with run.stop.waits():
                account = await self._account(run.epoch, run.event)
            run.epoch = await self.contexts.sum_up(run.epoch, run.event, account, in_hand=True)

    async def refused(self, run: Run, refusal: ContextTooLong, wanted: Prefix) -> bool:
        """Begin anew with less after a model refused the list for its length; False when there is no less.

        `wanted` is the prefix that the window offers of which the refusal told.
        """
        before = run.epoch
        self.contexts.learn(before, refusal)
        run.epoch = await self.contexts.fit(before, run.event, wanted)
        return run.epoch is not before

    async def abandon(self, run: Run, damage: IllegalMessages) -> None:
        """Begin anew after no provider would take the list, once a run; raises `damage` again the second time."""
        if run.is_abandoned:
            raise damage
        run.is_abandoned = True
        run.epoch = await self.contexts.abandon(run.epoch, run.event, last_calls(run))

    async def at_rest(self, event: Event) -> None:
        """After an event was put away: begin anew if the context is full. A person who speaks ends the waiting."""
        epoch = await self.contexts.opened(event)
        if epoch is None or not self.contexts.is_full(epoch):
            return
        stop = self._resting = Stop()
        account = ""
        try:
            async with stop.waits():
                account = await self._account(epoch, event)
        except Stopped:
            log.info("not_summed_up", reason="a person spoke")
        finally:
            self._resting = None
        await self.contexts.sum_up(epoch, event, account, in_hand=False)

    def arrived(self, event: Event) -> None:
        """Leave the summary that is made at rest, when a person waits; an `ArrivalObserver` of the mailbox."""
        if event.is_from_person and self._resting is not None:
            self._resting.give("preempted")

    async def _account(self, epoch: Epoch, event: Event) -> str:
        """Return the model's account of an epoch, "" when it has none to give.

        Nor is it asked where it was to speak, or where a bug left calls without results: no provider takes that list,
        or where the list is longer than it is known to read.
        """
        model, last = self.thinker.models.to_ask[0], epoch.messages[-1]
        if model.name == OFFLINE or last.role not in {"tool", "assistant"} or last.tool_calls:
            return ""
        if self.contexts.is_too_long(epoch):
            return ""
        try:
            async with asyncio.timeout(SUMMARY_SECONDS):
                return await self._ask(model, epoch, event)
        except (ModelError, TimeoutError) as error:
            if isinstance(error, ContextTooLong):
                self.contexts.learn(epoch, error)
            log.warning("not_summed_up", model=model.name, reason=str(error) or "it took too long")
            return ""

    async def _ask(self, model: ChatModel, epoch: Epoch, event: Event) -> str:
        messages = [*epoch.messages, REQUEST]
        asked_at = monotonic()
        body: dict[str, Json] = {
            "model": model.name,
            "epoch": epoch.id,
            "messages": len(messages),
            "digest": digest_of(messages),
            "purpose": SUMMARY,
            "asked": REQUEST.to_json(),
        }
        # No run is named: these calls are no step of one.
        await self.bus.publish(step("llm.requests", event, "", body))
        async with aclosing(model.stream(messages, epoch.tools)) as stream:
            async for item in stream:
                if isinstance(item, Answer):
                    seconds = round(monotonic() - asked_at, 4)
                    told = {"model": model.name, "purpose": SUMMARY, **item.figures(), "seconds": seconds}
                    await self.bus.publish(step("llm.results", event, "", told))
                    return item.message.content.strip()
        return ""
