"""The perpetual loop: takes one event after the other out of the mailbox, and never ends."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import structlog

from agent.bus import Bus
from agent.context.epoch import Prefix
from agent.context.epochs import Contexts
from agent.context.situation import SituationProvider
from agent.errors import ModelError, Stopped
from agent.event import MODEL_AVAILABLE, Event
from agent.mailbox import Lease, Mailbox, Wake
from agent.model.messages import Message
from agent.prompts import SystemPrompts
from agent.replies import ReplySink
from agent.run.act import Actor
from agent.run.attention import Attention
from agent.run.budget import Budget
from agent.run.closing import Closing
from agent.run.opening import Opening
from agent.run.outage import Outage
from agent.run.resuming import Resuming
from agent.run.run import Run
from agent.run.run_state import Completion, Ending, GivenUp, RunState, Suspension
from agent.run.stopping import Stop
from agent.run.summarizer import Summarizer
from agent.run.system_replies import SystemReplies
from agent.run.think import Thinker
from agent.tools.registry import ToolRegistry
from agent.tools.reply import DELIVERED, REPLY
from memory.errors import MemoryFailure
from memory.state.journal import Journal

log = structlog.get_logger()

UNUSABLE_STATE_PAUSE: Final = 5.0
"""Seconds between tries while the state database cannot be used."""

RUN_SECONDS: Final = 300.0
"""The longest a run may think and act; what it says may take longer to be heard."""


@dataclass(frozen=True, slots=True)
class Mind:
    """The parts the loop works with."""

    mailbox: Mailbox
    journal: Journal
    bus: Bus
    contexts: Contexts
    registry: ToolRegistry
    outlet: ReplySink
    desk: RunState
    thinker: Thinker


class Loop:
    """Handles events one at a time. No error of a model, a tool, a database or the network ends it.

    `run` and `watch` are its two loops. What happens beside it reaches it in two ways only: `interrupt`, and what
    `watch` sees arrive in the mailbox while an event is in hand.
    """

    def __init__(
        self, mind: Mind, prompts: SystemPrompts, situation: Sequence[SituationProvider], now: Callable[[], datetime]
    ) -> None:
        self._mind = mind
        self._prompts = prompts
        self.situation = list(situation)
        """Asked at each event, in order: a plug-in adds a fact with one function."""
        self._words = SystemReplies(mind.outlet, mind.desk)
        self._outage = Outage(mind.outlet)
        self._opening = Opening(mind.mailbox, mind.journal, mind.bus, mind.contexts, mind.desk, self.situation, now)
        self._closing = Closing(mind.mailbox, mind.bus, mind.desk, self._words, now, mind.journal)
        self.attention = Attention(mind.mailbox, mind.journal, self._words)
        self._actor = Actor(mind.registry, mind.bus, mind.contexts, mind.desk, mind.mailbox, self._words)
        self._resuming = Resuming(self._actor, mind.bus, mind.contexts, mind.desk, self._words)
        self._summarizer = Summarizer(mind.thinker, mind.bus, mind.contexts, mind.desk)
        self.attention.disturb = self._summarizer.disturb
        self._broken_off = ""
        """Id of the event whose run ended because the state could not be written, until it is taken again."""
        self.most_tool_calls: int | None = None
        """The system's cap on the budget of any event (seeds/000); None leaves each event its own."""
        self.own_tool_calls: Callable[[str], int | None] = lambda owner_key: None
        """Returns what an owner wants any event of theirs to use at most, None for no wish; the system's cap holds."""
        self.run_seconds = RUN_SECONDS
        """What a run may take by the clock before it is ended as timed out."""
        self.pause = UNUSABLE_STATE_PAUSE
        """Seconds between two tries on a state that cannot be used."""
        self.on_step: Callable[[], None] = lambda: None
        """Called at each step of a run: the mind's heart beat."""
        self.on_rest: Callable[[], None] = lambda: None
        """Called when the mind may wait for mail as long as it likes."""

    async def run(self) -> None:
        """Take and handle events until cancelled; while the state cannot be used, at the start too, try again."""
        while not await self._could(self._tell_given_up):
            pass
        while True:
            self.on_rest()
            await self._could(self._handle_next)

    async def _could(self, step: Callable[[], Awaitable[None]]) -> bool:
        """Take a step; False, after a pause, where the state could not be used for it."""
        try:
            await step()
        except MemoryFailure as error:
            log.warning("state_unusable", reason=str(error))
            if (early := self.attention.early) is not None:
                await self._outage.tell(early, error)
            await asyncio.sleep(self.pause)
            return False
        self._outage.end()
        return True

    async def _tell_given_up(self) -> None:
        for hand in await self._mind.mailbox.recover():
            if hand.is_given_up:
                await self._words.say(Run(hand, Budget(0)), "failed")

    async def _handle_next(self) -> None:
        await self._mind.bus.publish()  # what a full disk has left to be written, before more of it is made
        hand = await self._mind.mailbox.take()
        self.on_step()
        try:
            await self.handle(hand)
        finally:
            self._mind.desk.clear()  # what waits for the next event must not keep the words of the last one

    async def watch(self) -> None:
        """Look at what a person says while an event is in hand, until cancelled."""
        await self.attention.watch()

    def interrupt(self, event_id: str = "") -> bool:
        """End the run in hand now, or only if it is this event's, because somebody wants silence or the floor.

        To be called on the event loop, once an interruption is sure. The mouth is hushed; the model's stream and the
        tools that can be broken off end at once, each call with a result; the others keep their time limit. A
        person's event and a timer's are completed as interrupted, its own work comes back. The session's next block
        says what was heard and what was not. False when there is no such run.
        """
        return self.attention.interrupt(event_id)

    @property
    def hush(self) -> Callable[[], None]:
        """Silences the mouth at once, for an interruption; its owner sets it."""
        return self.attention.hush

    @hush.setter
    def hush(self, silence: Callable[[], None]) -> None:
        self.attention.hush = silence

    @property
    def run_in_hand(self) -> Run | None:
        """What is being handled; its `describe` is for the status."""
        return self.attention.run

    async def handle(self, hand: Lease) -> None:
        """Handle one event to its completion, suspension or, if a bug of ours shows, the dead letter."""
        event = hand.event
        stop = Stop(asyncio.get_running_loop().time() + self.run_seconds)
        caps = (event.max_tool_calls, self.most_tool_calls, self.own_tool_calls(event.owner_key))
        most = min(cap for cap in caps if cap is not None)
        run = Run(hand, Budget(most, hand.tool_calls, hand.model_calls), stop=stop)
        run.is_resumed, self._broken_off = hand.redelivered or self._broken_off == event.id, ""
        self.attention.take_up(run)
        with structlog.contextvars.bound_contextvars(run_id=run.id, event_id=event.id):
            try:
                await self._opening.build(run, await self._prefix(event))
                await self._closing.finish(run, await self._live(run))
            except MemoryFailure as error:
                await self._break_off(run)
                if not self._mind.desk.has_words:
                    await self._outage.tell(event, error)
                raise
            except asyncio.CancelledError:
                raise
            except Exception:  # the one place that catches everything: a bug must cost one event, not the loop
                log.exception("run_failed")
                await self._words.say(run, "failed")
                if not run.is_over:
                    await self._closing.end(run, GivenUp("an error inside; the log has it"))
            finally:
                self.attention.let_go()
                self.on_step()
            await self._summarizer.at_rest(event)

    async def _prefix(self, event: Event) -> Prefix:
        """Return what an epoch opened now for this event would begin with."""
        tools = self._mind.registry.specs
        system = await self._prompts.system(event.owner_key, tools)
        return Prefix(system, tools, self._mind.thinker.models[0].name)

    async def _break_off(self, run: Run) -> None:
        """Let what was handed to the mouth be heard, so that the next try knows what was said."""
        self._broken_off = run.event.id
        for delivery in self._mind.desk.deliveries.values():
            await delivery.cut()
            await delivery.ended()

    async def _live(self, run: Run) -> Ending:
        """Think and act until the event ends, or is ended."""
        try:
            return await self._rounds(run)
        except Stopped as stopped:
            log.info("run_stopped", reason=str(stopped))
            return await self._closing.for_stop(run)

    async def _rounds(self, run: Run) -> Ending:
        message = await self._resuming.finish_round(run) if run.is_resumed else None
        was_last_turn = False
        while True:
            ending = self._ending(run, message) if message else None
            if ending is not None:
                return ending
            run.stop.check()
            if was_last_turn or not run.budget.may_think:
                return await self._closing.for_budget(run)
            await self._summarizer.before_thought(run)
            was_last_turn = run.refused
            self.on_step()
            run.move("AWAITING_LLM_DECISION")
            try:
                message = await self._mind.thinker.answer(run)
            except ModelError as error:
                await self._words.say(run, "no_model")
                return _without_model(run, error)
            await self._act(run)

    async def _act(self, run: Run) -> None:
        if not run.unanswered:
            return
        self.on_step()
        run.move("AWAITING_TOOL_RESULT")
        await self._actor.act(run, run.unanswered)
        await self._summarizer.as_she_asked(run)

    def _ending(self, run: Run, message: Message) -> Completion | Suspension | None:
        """Return how the event ends after this message, None when it goes on.

        It said so; or it only replied, wholly; or it answered in bare text (B11).
        """
        desk = self._mind.desk
        if desk.ending is not None:
            return desk.ending
        if not message.tool_calls:
            return Completion(message.content[:200])
        results = {m.tool_call_id: m.content for m in run.epoch.messages[-len(message.tool_calls) :]}
        only_replied = all(call.name == REPLY and results.get(call.id) == DELIVERED for call in message.tool_calls)
        return Completion("replied") if only_replied else None


def _without_model(run: Run, error: ModelError) -> Completion | Suspension:
    """Return how an event ends that no model could answer: a person was told, its own work waits for a model."""
    if run.event.is_from_person:
        return Completion(f"no model could be reached: {error}")
    return Suspension(f"Waits for a model: {error}", Wake("event", name=MODEL_AVAILABLE))
