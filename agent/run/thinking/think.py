"""Asks the models for the next thought of a run: journals request and answer, and hands its words on as they come."""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from functools import partial

import structlog
from msgspec import Struct, field

from agent.bus import Bus
from agent.context.epochs import Contexts
from agent.errors import ContextTooLong, ModelError, ModelRefused, ModelUnavailable, Stopped, StreamBroken
from agent.event import MODEL_AVAILABLE, Event, new_id
from agent.mailbox import Mailbox
from agent.model.chain import Chain, Guarded
from agent.model.faults import empty
from agent.model.interface import OFFLINE, Answer, StreamItem, ThinkingStarted
from agent.model.messages import Message
from agent.record import step
from agent.run.budget import ThoughtLimits
from agent.run.questions import Outage
from agent.run.run import Run
from agent.run.run_state import RunState
from agent.run.system_replies import SystemReplies
from agent.run.thinking.asking import Asking, Claim, silence, split
from agent.run.thinking.speaking import Speaking
from agent.tools.reply import reply_call
from memory.json_value import Json

NOTICEABLE_WAIT = 0.05
"""Seconds for which the mouth may keep the stream waiting before they are added to what the run may take."""

FRUITLESS_PER_MODEL = 2
"""Answers of one run that may break off or be empty before the next model is asked."""

log = structlog.get_logger()


class ModelCalls(Struct):
    """Asks one model or another for the same thought; of all, one at most is heard."""

    run: Run
    speaking: Speaking
    bus: Bus
    contexts: Contexts
    mailbox: Mailbox
    has_models: bool
    """Whether there are others than the offline one: then its word that a model is needed is no answer."""
    answered_by: Guarded | None = None
    """Who gave the whole answer, once it is kept."""
    usd: float = 0.0
    """What the answer and the calls that lost cost."""
    tokens: int = 0
    """What they read and wrote."""
    message: Message | None = None
    """The answer that is kept; None where it was empty."""
    is_sign_given: bool = False
    """Whether whoever waits was let know that it goes on."""
    _journaled: Guarded | None = None
    _written: int = 0
    """Characters of words at the last look."""

    async def begin(self, model: Guarded) -> None:
        """Write down what the first model is about to be asked, and count the thought, whoever has it in the end.

        It need not last: where the power goes before anything came of the answer, it is asked again.
        """
        request = self.bus.in_transaction(self._request(model), durable=False)
        await self.mailbox.charge(self.run.event.id, model_calls=1, in_transaction=request)
        self._journaled = model

    async def ask(self, model: Guarded, claim: Claim) -> Message | None:
        """Ask a model, hand on its words from its first token on, and keep its answer; None when that was empty.

        Raises `ModelError`.
        """
        if self._journaled is not model:
            await self.bus.publish(self._request(model), durable=False)
        self._journaled = None
        stages = self.run.stages
        call = stages.ask(model.name)
        log.info("model_asked", model=model.name, messages=len(self.run.epoch.messages))
        async with aclosing(model.stream(self.run.epoch.messages, self.run.epoch.tools)) as stream:
            async for item in self._whole(stream) if self.has_models and model.name == OFFLINE else stream:
                claim()
                if isinstance(item, ThinkingStarted):
                    continue
                first_at = stages.answers(call)
                if isinstance(item, Answer):
                    self.run.more_came(are_words_open=False)
                    call.ended = stages.clock()
                    await self.speaking.finish()
                    return self._keep(model, item, call.began, first_at)
                handed_at = stages.clock()
                await self.speaking.take(item)
                self.run.more_came(are_words_open=self.speaking.is_open)
                if (waited := stages.clock() - handed_at) > NOTICEABLE_WAIT:
                    self.run.stop.allow(waited)
        raise StreamBroken(f"{model.name} ended its answer without an end", Message("assistant"))

    def serves(self, run_state: RunState) -> bool:
        """Whether whoever waits hears something, was written more since the last look, or waits for no words.

        They wait until there are any, for the rest of what was begun, and for that of an answer that broke off.
        """
        run, speaking = self.run, self.speaking
        before, self._written = self._written, speaking.written
        if run_state.is_speaking or self._written > before:
            return True
        has_words = speaking.has_begun or run_state.has_words
        return has_words and not (speaking.is_open or run.fruitless)

    def lost(self, model: Guarded) -> None:
        """Write down what a call may have cost that was cancelled before its first token: nobody tells what it did."""
        if model.name == OFFLINE:
            return
        self.run.silent.add(model.name)
        tokens = self.run.epoch.tokens
        usage = model.lost(tokens)
        self.usd += usage.cost
        self.tokens += tokens
        log.info("model_lost", model=model.name, prompt_tokens=tokens)
        body: dict[str, Json] = {
            "model": model.name,
            "finish_reason": "lost",
            "prompt_tokens": tokens,
            "cost_usd": round(usage.cost, 6),
            "cycle": self.run.cycle,
        }
        self.bus.hold(step("llm.results", self.run.event, self.run.id, body), durable=False)

    def _keep(self, model: Guarded, answer: Answer, asked_at: float, first_at: float) -> Message | None:
        """Journal an answer and append it to the epoch, unless it is empty; at once, so that no stop comes between."""
        self.answered_by, run, usage, message = model, self.run, answer.usage, answer.message
        if model.name == run.epoch.model:
            self.contexts.accepted(run.epoch)
        body: dict[str, Json] = {
            "model": model.name,
            **answer.figures(),
            "cost_usd": round(usage.cost, 6),
            "first_token_at": first_at,
            "first_token_seconds": round(first_at - asked_at, 4),
            "seconds": round(run.stages.clock() - asked_at, 4),
        }
        self.usd += usage.cost
        self.tokens += usage.prompt_tokens + usage.completion_tokens
        log.info("model_answered", **body)
        body |= {"cycle": run.cycle, "tool_calls": [call.name for call in message.tool_calls]}
        self.bus.hold(step("llm.results", run.event, run.id, body), durable=False)  # what acts on it sees to it
        if message.is_empty:
            run.came_to_nothing(empty(model.name, answer.finish_reason, message))
            return None
        self.bus.hold(self.contexts.envelope(run.epoch, run.event, run.id, message, run.cycle), durable=False)
        self.contexts.append(run.epoch, message)
        self.message = message
        return message

    async def _whole(self, stream: AsyncIterator[StreamItem]) -> AsyncIterator[StreamItem]:
        """Yield the items of the offline model once it is known that it can do what is wanted."""
        items = [item async for item in stream]
        if any(isinstance(item, Answer) and item.needs_model for item in items):
            raise ModelUnavailable("this takes more than the offline model")
        for item in items:
            yield item

    def _request(self, model: Guarded) -> Event:
        epoch = self.run.epoch
        body: dict[str, Json] = {
            "model": model.name,
            "epoch": epoch.id,
            "messages": len(epoch.messages),
            "digest": epoch.digest,
            "cycle": self.run.cycle,
        }
        return step("llm.requests", self.run.event, self.run.id, body)


class Thinker(Struct):
    """Asks the models until one answers."""

    models: Chain
    bus: Bus
    contexts: Contexts
    replies: SystemReplies
    mailbox: Mailbox
    limits: ThoughtLimits = field(default_factory=ThoughtLimits)
    outage: Outage = field(default_factory=Outage)

    async def answer(self, run: Run) -> Message | None:
        """Append the model's answer to the epoch and return it; None when it broke off or was empty: think again.

        A stream that breaks off, or is stopped, becomes a reply with exactly the words that were handed on. A model
        that breaks off twice in one run is passed over. Raises `ModelError` when no model answers, which costs the
        event no thought, `ContextTooLong` at once when one refuses the list for its length; `Stopped` when the run was
        stopped.
        """
        if run.waited_for_model and not run.fruitless:
            run.fruitless = FRUITLESS_PER_MODEL - 1  # what failed before is asked of each model once
        models, stand_in = split(self.models, run.fruitless // FRUITLESS_PER_MODEL)
        if not run.waited_for_model:
            models = [model for model in models if model.name not in run.silent]
        first = next((model for model in models if not model.breaker.rest), stand_in) or next(iter(models), None)
        if first is None:
            raise ModelError("no model is configured")
        run.cycle = new_id()
        run.budget.model_calls += 1
        speaking = Speaking(run, self.replies.run_state, self.replies.reply_sink)
        has_models = bool(split(self.models)[0])
        calls = ModelCalls(run, speaking, self.bus, self.contexts, self.mailbox, has_models)
        await calls.begin(first)
        return await self._asked(run, calls, models, stand_in)

    async def _asked(
        self, run: Run, calls: ModelCalls, models: Sequence[Guarded], stand_in: Guarded | None
    ) -> Message | None:
        limits = self.limits.in_outage() if self.outage.was_seen else self.limits
        tell_silence, served = partial(self._tell_silence, run, calls), partial(calls.serves, self.replies.run_state)
        is_new = run.event.is_from_person and not run.waited_for_model
        asking = Asking(calls.ask, limits, calls.lost, tell_silence, served, self.replies.sign_after, is_new)
        try:
            async with run.stop.waits():
                message = await asking.first_answer(models, stand_in)
        except Stopped:
            if calls.answered_by is not None:
                return calls.message
            if handed := await calls.speaking.stopped():
                await keep_interrupted(self.bus, self.contexts, run, handed, "you were stopped here")
            if run.stop.reason == "preempted":  # a thought that a person's words cut off is given back
                await self._give_back(run)
            raise
        except StreamBroken as error:
            log.warning("stream_broken", reason=str(error))
            run.came_to_nothing(error)
            if handed := await calls.speaking.break_off():
                await keep_interrupted(self.bus, self.contexts, run, handed, "the answer broke off here")
            return None
        except ModelError as error:
            await self._give_back(run)
            failure = failure_of(run, error)
            await self._notice(is_there=isinstance(failure, ModelRefused) or failure.is_of_answer)
            raise failure from error.__cause__
        if calls.usd or run.budget.purse is not None:
            run.budget.pay(calls.tokens, calls.usd)
            await self.mailbox.charge(run.event.id, usd=calls.usd, tokens=calls.tokens)
        if calls.answered_by is not None and calls.answered_by.name != OFFLINE:
            await self._notice(is_there=True)
        return message

    async def _notice(self, *, is_there: bool) -> None:
        """Take note whether a model is there, be it to refuse; wake what waits for one, if there was none before."""
        if not is_there:
            self.outage.began()
        elif self.outage.ended():
            await self.mailbox.wake(MODEL_AVAILABLE)

    async def _tell_silence(self, run: Run, calls: ModelCalls) -> None:
        """Let whoever waits for an answer know that it goes on: a sign in the room, a state for who wrote.

        The second time in words.
        """
        if run.event.is_from_person:
            self.bus.show(step("ui.events", run.event, run.id, {"event": "model_silent"}))
            if not calls.is_sign_given:
                calls.is_sign_given = True
                await self.replies.sign(run.event)
            elif not (run.waited_for_model or self.replies.run_state.is_written):
                # who waited for a model knows, and is elsewhere; who reads sees that no more letters come
                await self.replies.tell_slow(run.event)

    async def _give_back(self, run: Run) -> None:
        """Take back the charge for a thought that nobody had."""
        run.budget.model_calls -= 1
        await self.mailbox.charge(run.event.id, model_calls=-1)


def failure_of(run: Run, error: ModelError) -> ModelError:
    """Return why a run has no answer: what was wrong with the last one, where models are there and come to no end."""
    if run.silent and error.excuse == ModelError.excuse and not error.is_absent:
        return silence(sorted(run.silent))
    if run.fault is None or run.fruitless < FRUITLESS_PER_MODEL or isinstance(error, ContextTooLong):
        return error
    run.fault.is_of_answer = True  # it began to answer, and more than once
    return run.fault


async def keep_interrupted(bus: Bus, contexts: Contexts, run: Run, handed: str, why: str) -> None:
    """Append a reply with exactly the words that reached the mouth, and its result saying that no more of it did."""
    call = reply_call(handed)
    reply = Message("assistant", tool_calls=(call,))
    result = Message("tool", f"interrupted: {why}; only this much was said, go on after it", tool_call_id=call.id)
    kept = [contexts.envelope(run.epoch, run.event, run.id, message, run.cycle) for message in (reply, result)]
    await bus.publish(*kept)
    for message in (reply, result):
        contexts.append(run.epoch, message)
