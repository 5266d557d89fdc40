"""The perpetual loop: takes one event after the other out of the mailbox, and never ends."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

import structlog

from agent.act import Actor
from agent.budget import MAX_GRANTS, Budget
from agent.bus import Bus
from agent.context import block
from agent.context.epochs import Contexts
from agent.desk import Completion, Desk, Suspension
from agent.errors import ModelError
from agent.event import MODEL_AVAILABLE
from agent.mailbox import PERSON, InHand, Mailbox, Wake
from agent.model.messages import Json, Message
from agent.phrases import phrase
from agent.record import step
from agent.replies import Outlet, Reply
from agent.run import Run, Status
from agent.situation import SituationProvider
from agent.think import Thinker, keep_interrupted
from agent.tools.registry import ToolRegistry
from agent.tools.reply import DELIVERED, REPLY
from memory.errors import MemoryFailure
from memory.journal import Journal

log = structlog.get_logger()

SENTENCE_STARTED = "speech.sentence_started"
"""Topic of the commit that precedes a sentence's first sample (DESIGN 15)."""

UNUSABLE_STATE_PAUSE = 5.0
"""Seconds between tries while the state database cannot be used."""


@dataclass(frozen=True, slots=True)
class Mind:
    """The parts the loop works with."""

    mailbox: Mailbox
    journal: Journal
    bus: Bus
    contexts: Contexts
    registry: ToolRegistry
    outlet: Outlet
    desk: Desk
    thinker: Thinker


class Loop:
    """Handles events one at a time. No error of a model, a tool, a database or the network ends it."""

    def __init__(
        self, mind: Mind, system: Callable[[], str], situation: Sequence[SituationProvider], now: Callable[[], datetime]
    ) -> None:
        self._mind = mind
        self._system = system
        self._situation = situation
        self._now = now
        self._actor = Actor(mind.registry, mind.bus, mind.contexts, mind.desk)
        self._broken_off = ""
        """Id of the event whose run ended because the state could not be written; it is still in hand."""
        self.run_in_hand: Run | None = None
        self.on_step: Callable[[], None] = lambda: None
        """Called at each step of a run: the mind's heart beat."""
        self.on_rest: Callable[[], None] = lambda: None
        """Called when the mind may wait for mail as long as it likes."""

    async def run(self) -> None:
        """Take and handle events until cancelled."""
        for hand in await self._mind.mailbox.recover():
            if hand.is_given_up:
                await self._deliver(Run(hand, Budget(0)), "given-up", phrase("failed", hand.event.content))
        while True:
            try:
                self.on_rest()
                hand = await self._mind.mailbox.take()
                self.on_step()
                await self.handle(hand)
            except MemoryFailure as error:
                log.warning("state_unusable", reason=str(error))
                await asyncio.sleep(UNUSABLE_STATE_PAUSE)

    async def handle(self, hand: InHand) -> None:
        """Handle one event to its completion, suspension or, if a bug of ours shows, the dead letter."""
        event = hand.event
        run = Run(hand, Budget(event.max_tool_calls, hand.tool_calls, hand.model_calls))
        run.is_resumed = hand.attempt > 1 or self._broken_off == event.id
        self.run_in_hand = run
        with structlog.contextvars.bound_contextvars(run_id=run.id, event_id=event.id):
            try:
                await self._begin(run)
                await self._finish(run, await self._live(run))
            except MemoryFailure:
                await self._break_off(run)
                raise
            except asyncio.CancelledError:
                raise
            except Exception:  # the one place that catches everything: a bug must cost one event, not the loop
                log.exception("run_failed")
                await self._say(run, "failed")
                await self._mind.mailbox.fail(event.id, "an error inside; the log has it")
                await self._set(run, "FAILED")
            finally:
                self.run_in_hand = None

    async def _break_off(self, run: Run) -> None:
        """Let what was handed to the mouth be heard, so that the next try knows what was said."""
        self._broken_off = run.event.id
        for delivery in self._mind.desk.deliveries.values():
            await delivery.cut()
            await delivery.ended()

    async def _begin(self, run: Run) -> None:
        """Build the context: the open epoch, with the event's block at its end."""
        mind, event = self._mind, run.event
        # Only what a person said or wrote is found again by its words; her own tasks would drown it.
        words, content = (event.content, "") if event.is_from_person else ("", event.content)
        body: dict[str, Json] = {"source": event.source, "attempt": run.hand.attempt, "content": content}
        opened = step("runs.new", event, run.id, body, words)
        run.status = "BUILDING_CONTEXT"
        await mind.bus.publish(opened, step("context.build.request", event, run.id))
        mind.desk.lay(run.hand, await self._already_spoken(run))
        run.epoch = await mind.contexts.current(event, run.id, self._system(), mind.registry.specs)
        answer = step("context.build.response", event, run.id, {"epoch": run.epoch.id, "tokens": run.epoch.tokens})
        if self._is_handed_over(run):
            await mind.bus.publish(answer)
            return
        message = Message("user", block.render(self._block(run)))
        await mind.bus.publish(answer, mind.contexts.envelope(run.epoch, event, run.id, message))
        mind.contexts.append(run.epoch, message)

    async def _already_spoken(self, run: Run) -> tuple[str, ...]:
        if not run.is_resumed:
            return ()
        spoken = await self._mind.journal.entries(topic=SENTENCE_STARTED, event_id=run.event.id)
        return tuple(str(entry.body["words"]) for entry in spoken)

    def _is_handed_over(self, run: Run) -> bool:
        """Whether the newest block in the context is this event's, with this note: so it is after a crash."""
        if not run.is_resumed:
            return False
        newest = next((m for m in reversed(run.epoch.messages) if m.role == "user"), None)
        seen = block.parse(newest.content) if newest else None
        return seen is not None and seen.event_id == run.event.id and seen.situation.get("Note", "") == run.hand.note

    def _block(self, run: Run) -> block.Block:
        event = run.event
        evidence = event.metadata.get("evidence")
        situation: dict[str, str] = {}
        for provider in self._situation:
            situation.update(provider(run.hand))
        if run.hand.note:
            situation["Note"] = run.hand.note
        return block.Block(
            event_id=event.id,
            event_type=event.type,
            source=event.source,
            words=event.content,
            is_human=event.is_from_person,
            budget=run.budget.left,
            time=event.created_at if event.is_from_person else self._now(),
            situation=situation,
            evidence={k: str(v) for k, v in evidence.items()} if isinstance(evidence, dict) else {},
        )

    async def _live(self, run: Run) -> Completion | Suspension:
        """Think and act until the event ends."""
        message = await self._resume(run)
        was_last_turn = False
        while True:
            ending = self._ending(run, message) if message else None
            if ending is not None:
                return ending
            if was_last_turn or not run.budget.may_think:
                return await self._suspend_for_budget(run)
            was_last_turn = run.refused
            await self._set(run, "AWAITING_LLM_DECISION")
            try:
                message = await self._mind.thinker.answer(run)
            except ModelError as error:
                await self._say(run, "no_model")
                return _without_model(run, error)
            await self._act(run)

    async def _resume(self, run: Run) -> Message | None:
        """After a crash: finish the round that was under way, and return its message; None when she is to think."""
        await self._actor.repeat(run)
        if run.unanswered:
            await self._actor.act(run, run.unanswered, after_crash=True)
        if run.last.role == "assistant":
            await self._deliver(run, "resumed", run.last.content)
        if run.last.role == "user" and self._mind.desk.already:
            handed = " ".join(self._mind.desk.already)
            await keep_interrupted(self._mind.bus, self._mind.contexts, run, handed, "the machine stopped here")
            return None
        return run.answer

    async def _act(self, run: Run) -> None:
        if not run.unanswered:
            return
        await self._set(run, "AWAITING_TOOL_RESULT")
        before = run.budget.tool_calls
        await self._actor.act(run, run.unanswered)
        used = run.budget.tool_calls - before
        await self._mind.mailbox.charge(run.event.id, tool_calls=used, model_calls=1)
        desk = self._mind.desk
        if desk.compression is not None:
            run.epoch = await self._mind.contexts.compress(run.epoch, run.event, run.id, desk.compression)
            desk.compression = None

    def _ending(self, run: Run, message: Message) -> Completion | Suspension | None:
        """Return how the event ends after this message, None when she goes on.

        She said so; or she only replied, wholly; or she answered in bare text (B11).
        """
        desk = self._mind.desk
        if desk.ending is not None:
            return desk.ending
        if not message.tool_calls:
            return Completion(message.content[:200])
        results = {m.tool_call_id: m.content for m in run.epoch.messages[-len(message.tool_calls) :]}
        only_replied = all(call.name == REPLY and results.get(call.id) == DELIVERED for call in message.tool_calls)
        return Completion("replied") if only_replied else None

    async def _suspend_for_budget(self, run: Run) -> Suspension:
        if run.event.is_from_person and not self._mind.desk.deliveries:
            await self._say(run, "out_of_budget")
        done = [f"{call.name} {call.arguments}"[:120] for m in run.epoch.messages[-8:] for call in m.tool_calls]
        return Suspension(
            "The budget was used up. Last calls: " + "; ".join(done), Wake("event", name=PERSON), for_budget=True
        )

    async def _finish(self, run: Run, ending: Completion | Suspension) -> None:
        """Wait until everything said was heard, then put the event away."""
        mind, event = self._mind, run.event
        for delivery in mind.desk.deliveries.values():
            await delivery.ended()
        if isinstance(ending, Suspension):
            if ending.for_budget and run.hand.grants >= MAX_GRANTS:
                await mind.mailbox.fail(event.id, f"the budget was used up {MAX_GRANTS + 1} times")
                await self._set(run, "FAILED")
                return
            await mind.mailbox.suspend(event.id, ending.note, ending.wake, fresh_grant=ending.for_budget)
            await self._set(run, "SUSPENDED")
            return
        figures: dict[str, Json] = {"model_calls": run.budget.model_calls, "tool_calls": run.budget.tool_calls}
        await mind.mailbox.complete(event.id, ending.summary, figures)
        await self._set(run, "COMPLETED")

    async def _say(self, run: Run, name: str) -> None:
        """Say one of the runtime's own sentences, where a person waits for words."""
        if run.event.is_from_person:
            await self._deliver(run, name, phrase(name, run.event.content))

    async def _deliver(self, run: Run, name: str, text: str) -> None:
        if not run.event.is_from_person:
            return
        desk, call_id = self._mind.desk, f"{name}-{run.id}"
        delivery = desk.deliveries[call_id] = self._mind.outlet.open(Reply(run.event, call_id, desk.already))
        await delivery.feed(text)
        await delivery.close()
        await delivery.ended()

    async def _set(self, run: Run, status: Status) -> None:
        self.on_step()
        run.status = status
        finished = status in {"COMPLETED", "FAILED", "TIMED_OUT", "SUSPENDED"}
        if finished:
            log.info("run_finished", status=status, model_calls=run.budget.model_calls)
        body: dict[str, Json] = {"event": "run_finished" if finished else "run_state", "status": status}
        await self._mind.bus.publish(step("ui.events", run.event, run.id, body))


def _without_model(run: Run, error: ModelError) -> Completion | Suspension:
    """Return how an event ends that no model could answer: a person was told, her own work waits for a model."""
    if run.event.is_from_person:
        return Completion(f"no model could be reached: {error}")
    return Suspension(f"Waits for a model: {error}", Wake("event", name=MODEL_AVAILABLE))
