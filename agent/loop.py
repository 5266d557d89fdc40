"""The perpetual loop: takes one event after the other out of the mailbox, and never ends."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Protocol

import structlog
from msgspec import Struct

from agent.bus import Bus
from agent.confirmation.confirmations import WAITS, Confirmations
from agent.context.epoch import Prefix
from agent.context.epochs import Contexts
from agent.context.situation import AtOpening, SituationProvider
from agent.errors import ContextTooLong, IllegalMessages, ModelError, Stopped
from agent.event import Event
from agent.mailbox import Lease, Mailbox
from agent.model.messages import Message
from agent.prompts import SystemPrompts
from agent.record import step
from agent.run.act import Actor
from agent.run.attention import Attention
from agent.run.budget import Budget, RunLimits
from agent.run.closing import Closing
from agent.run.opening import Opening, Resuming
from agent.run.questions import Questions
from agent.run.run import Run, Stop
from agent.run.run_state import Completion, Ending, GivenUp, RunState, Suspension
from agent.run.thinking.summarizer import Summarizer
from agent.run.thinking.think import Thinker
from agent.tools.registry.registry import ToolRegistry
from agent.tools.reply import DELIVERED, REPLY, WHOLE
from agent.turns.stages import Arrivals
from memory.errors import MemoryFailure
from memory.json_value import Json
from memory.state.journal import Journal

log = structlog.get_logger()


class LoopObserver(Protocol):
    """Follows the progress of the loop. Called on the event loop; each method has to return at once."""

    def stepped(self) -> None:
        """Take note of a step of a run: its beginning, each model call, each round of tools, its end."""

    def rested(self) -> None:
        """Take note that the loop may wait for mail as long as it likes."""


class Settler(Protocol):
    """Answers some words of people without a model."""

    async def settle(self, run: Run) -> Message | None:
        """Do what the words of an event ask for; return the call that answers them, journaled, None for other words.

        It may be asked again about the same words after a crash.
        """


class Mind(Struct, frozen=True):
    """The parts the loop works with."""

    mailbox: Mailbox
    journal: Journal
    bus: Bus
    contexts: Contexts
    registry: ToolRegistry
    run_state: RunState
    thinker: Thinker
    at_opening: Sequence[AtOpening]
    """What the first block of an epoch tells, in this order."""
    recalled: AtOpening
    """What every block of a person's tells of earlier talk."""


class Loop:
    """Handles events one at a time. No error of a model, a tool, a database or the network ends it.

    `run` and `watch` are its two loops. What happens beside it reaches it in two ways only, both by `attention`:
    `interrupt`, and what `watch` sees arrive in the mailbox while an event is in hand.
    """

    def __init__(
        self,
        mind: Mind,
        attention: Attention,
        prompts: SystemPrompts,
        situation: Sequence[SituationProvider],
        now: Callable[[], datetime],
        limits: RunLimits,
    ) -> None:
        """`situation` is asked at each event, in order: a plug-in adds a fact with one function."""
        self._mind = mind
        self._prompts = prompts
        self._limits = limits
        self._attention = attention
        run_state, replies = mind.run_state, attention.system_replies
        self._replies = replies
        self._confirmations = confirmations = Confirmations(
            mind.registry, mind.bus, mind.contexts, mind.mailbox, replies, mind.journal, attention.names
        )
        self._opening = Opening(
            mind.mailbox,
            mind.journal,
            mind.bus,
            mind.contexts,
            run_state,
            situation,
            now,
            mind.at_opening,
            mind.recalled,
            confirmations,
        )
        self._closing = Closing(mind.mailbox, mind.bus, run_state, replies, now, mind.journal)
        self._actor = Actor(mind.registry, mind.bus, mind.contexts, run_state, mind.mailbox, replies, confirmations)
        self._questions = Questions(mind.mailbox, replies, now, limits.quiet)
        self._resuming = Resuming(self._actor, mind.bus, mind.contexts, run_state, replies, mind.journal)
        self._summarizer = Summarizer(mind.thinker, mind.bus, mind.contexts, run_state)
        self._arrivals = Arrivals()
        mind.mailbox.observe_arrivals(self._arrivals)
        mind.mailbox.observe_arrivals(self._summarizer.arrived)
        self._broken_off = ""
        """Id of the event whose run ended because the state could not be written, until it is taken again."""
        self._replies_read: tuple[str, ...] = ()
        """What of its replies was read by then: what is written rather than spoken is in no journal before."""
        self._observers: list[LoopObserver] = []
        self._settlers: list[Settler] = [self._confirmations]

    def observe(self, observer: LoopObserver) -> None:
        """Tell an observer of each step from now on."""
        self._observers.append(observer)

    def answer_by(self, settler: Settler) -> None:
        """Offer a person's words to one more settler before a model sees them, behind those there are; for good."""
        self._settlers.append(settler)

    async def run(self) -> None:
        """Take and handle events until cancelled; while the state cannot be used, at the start too, try again.

        What breaks off a step in spite of all that is caught further in is logged; the event in hand comes back as
        after a crash, and after as many of them as after so many crashes it is given up.
        """
        is_recovered = False
        while True:
            try:
                if not is_recovered:
                    is_recovered = await self._could(self._tell_given_up)
                    continue
                for observer in self._observers:
                    observer.rested()
                await self._could(self._handle_next)
            except Exception:  # nothing ends the loop
                log.exception("loop_broke_off")
                is_recovered = False
                await asyncio.sleep(self._limits.retry_seconds)

    async def _could(self, step: Callable[[], Awaitable[None]]) -> bool:
        """Take a step; False, after a pause, where the state could not be used for it."""
        try:
            await step()
        except MemoryFailure as error:
            log.warning("state_unusable", reason=str(error))
            if (early := self._attention.early) is not None:
                await self._replies.tell_of_outage(early, error)
            await asyncio.sleep(self._limits.retry_seconds)
            return False
        self._replies.outage_ended()
        return True

    async def _tell_given_up(self) -> None:
        for lease in await self._mind.mailbox.recover():
            if lease.is_given_up:
                await self._say_failed(Run(lease, Budget(0)))

    async def _say_failed(self, run: Run) -> None:
        """Tell a person that it is given up; where a call may have acted, that too: they might have it done twice."""
        asked = await self._mind.journal.entries(topic="tools.requests", event_id=run.event.id)
        tools = [self._mind.registry.find(str(each.body.get("tool_name"))) for each in asked]
        has_acted = any(tool is None or (tool.effect != "pure" and tool.name != REPLY) for tool in tools)
        await self._replies.say(run, "failed_midway" if has_acted else "failed")

    async def _handle_next(self) -> None:
        await self._mind.bus.publish()  # what a full disk has left to be written, before more of it is made
        lease = await self._mind.mailbox.take()
        self._stepped()
        try:
            await self.handle(lease)
        finally:
            self._mind.run_state.clear()  # what waits for the next event must not keep the words of the last one

    def _stepped(self) -> None:
        for observer in self._observers:
            observer.stepped()

    async def watch(self) -> None:
        """Look at what a person says while an event is in hand, until cancelled."""
        while True:
            try:
                await self._attention.watch()
            except Exception:  # it was one arrival, which is handled in its turn
                log.exception("watch_broke_off")

    def interrupt(self, event_id: str = "") -> bool:
        """End the run in hand; see `Attention.interrupt`."""
        return self._attention.interrupt(event_id)

    @property
    def run_in_hand(self) -> Run | None:
        """What is being handled; its `describe` is for the status."""
        return self._attention.run

    def describe_questions(self) -> dict[str, Json]:
        """Return which questions wait for a person's yes, for the status."""
        return self._confirmations.describe()

    async def handle(self, lease: Lease) -> None:
        """Handle one event to its completion, suspension or, if a bug of ours shows, the dead letter."""
        event = lease.event
        stop = Stop(asyncio.get_running_loop().time() + self._limits.seconds)
        run = Run(lease, self._limits.budget(lease), stages=self._arrivals.stages_of(lease), stop=stop)
        run.is_resumed = lease.redelivered
        if self._broken_off == event.id:
            run.is_resumed, run.read_before = True, self._replies_read
        self._broken_off, self._replies_read = "", ()
        self._attention.take_up(run)
        with structlog.contextvars.bound_contextvars(run_id=run.id, event_id=event.id):
            try:
                await self._closing.finish(run, self._questions.put_off(lease) or await self._live(run))
            except MemoryFailure as error:
                await self._break_off(run)
                if not self._mind.run_state.has_words:
                    await self._replies.tell_of_outage(event, error)
                raise
            except asyncio.CancelledError:
                raise
            except Exception:  # the one place that catches everything: a bug must cost one event, not the loop
                log.exception("run_failed")
                await self._say_failed(run)
                if not run.is_over:
                    await self._closing.end(run, GivenUp("an error inside; the log has it"))
            finally:
                self._attention.let_go()
                self._stepped()
            await self._rest(event)

    async def _rest(self, event: Event) -> None:
        """Sum up a full context. What fails there costs nothing: the next event finds it full."""
        try:
            await self._summarizer.at_rest(event)
        except MemoryFailure:
            raise
        except Exception:  # the event is put away, and no other has to do with it
            log.exception("rest_failed")

    async def _tell_of_damage(self, run: Run) -> None:
        """Tell a person once that some of the conversation could not be read any more."""
        if run.epoch.follows_damage and run.event.is_from_person:
            run.epoch.follows_damage = False
            await self._replies.tell(run.event, "context_lost")

    async def _prefix(self, event: Event) -> Prefix:
        """Return what an epoch opened now for this event would begin with."""
        tools = self._mind.registry.specs_for(event.type)
        system = await self._prompts.system(event.owner_key, tools)
        return Prefix(system, tools, self._mind.thinker.models.to_ask[0].name)

    async def _break_off(self, run: Run) -> None:
        """Let what was handed to the mouth be heard, so that the next try knows what was said."""
        self._mind.bus.show(step("ui.events", run.event, run.id, {"event": "run_broken_off"}))
        self._broken_off, self._replies_read = run.event.id, run.read_before
        for delivery in self._mind.run_state.deliveries.values():
            with suppress(MemoryFailure):  # this run ends because of it
                await delivery.cut()
            self._replies_read += ((await delivery.ended()).heard,)

    async def _live(self, run: Run) -> Ending:
        """Build the context, then think and act until the event ends, or is ended."""
        await self._questions.drop_if_asked(run.event)
        await self._attention.unheld()
        await self._opening.build(run, await self._prefix(run.event))
        run.stages.mark("context")
        await self._tell_of_damage(run)
        try:
            return await self._rounds(run)
        except Stopped as stopped:
            log.info("run_stopped", reason=str(stopped))
            return await self._closing.for_stop(run)

    async def _rounds(self, run: Run) -> Ending:
        message = await self._resuming.finish_round(run) if run.is_resumed else None
        message = message or await self._settled(run)
        was_last_turn = False
        while True:
            ending = self._ending(run, message) if message else None
            if ending is not None:
                return ending
            if message and not run.event.is_from_person and await self._mind.mailbox.is_person_waiting():
                run.stop.give("preempted")
            run.stop.check()
            if was_last_turn or not run.budget.may_think:
                return await self._closing.for_budget(run)
            await self._summarizer.before_thought(run)
            was_last_turn = run.refused
            self._stepped()
            run.move("AWAITING_LLM_DECISION")
            try:
                message = await self._mind.thinker.answer(run)
            except ContextTooLong as refusal:
                if not await self._summarizer.refused(run, refusal, await self._prefix(run.event)):
                    await self._replies.say(run, "too_long")
                    return GivenUp(f"it is longer than the model reads: {refusal}")
                message, was_last_turn = None, False
            except IllegalMessages as damage:
                await self._summarizer.abandon(run, damage)
                await self._tell_of_damage(run)
                message, was_last_turn = None, False
            except ModelError as error:
                return await self._questions.wait(run, error)
            await self._act(run)

    async def _settled(self, run: Run) -> Message | None:
        """Carry out what the words of the event mean without a model; return that call, if any."""
        for settler in self._settlers:
            if (message := await settler.settle(run)) is not None:
                await self._act(run)
                return message
        return None

    async def _act(self, run: Run) -> None:
        if not (calls := run.unanswered):
            return
        self._stepped()
        run.move("AWAITING_TOOL_RESULT")
        await self._actor.act(run, calls)
        await self._summarizer.as_asked(run)

    def _ending(self, run: Run, message: Message) -> Completion | Suspension | None:
        """Return how the event ends after this message, None when it goes on.

        It said so; or it only replied, wholly; or it answered in bare text (B11).
        """
        if (ending := self._mind.run_state.ending) is not None:
            return ending
        if not message.tool_calls:
            return Completion(message.content[:200])
        results = {m.tool_call_id: m.content for m in run.epoch.messages[-len(message.tool_calls) :]}
        if waits := next((result for result in results.values() if result.startswith(WAITS)), ""):
            return Completion(waits[:200])
        only_replied = all(call.name == REPLY and results.get(call.id) in WHOLE for call in message.tool_calls)
        return Completion("replied") if only_replied and DELIVERED in results.values() else None
