"""Asks the model, and hands its words to the reply sink while they are still being written."""

import json
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from time import monotonic

import structlog

from agent.bus import Bus
from agent.context.epochs import Contexts
from agent.errors import ContextTooLong, ModelError, Stopped, StreamBroken
from agent.event import MODEL_AVAILABLE, Event, new_id
from agent.mailbox import Mailbox
from agent.model.interface import Answer, ArgumentsDelta, ChatModel, StreamItem, TextDelta, ToolCallStarted
from agent.model.messages import Message, ToolCall
from agent.model.stream.arguments import PartialString
from agent.record import step
from agent.replies import Reply, ReplySink, ReplyStream
from agent.run.run import Run
from agent.run.run_state import RunState
from agent.tools.reply import REPLY
from memory.json_value import Json

log = structlog.get_logger()

FRUITLESS_PER_MODEL = 2
"""Answers of one run that may break off or be empty before the next model is asked."""

NOTICEABLE_WAIT = 0.05
"""Seconds for which the mouth may keep the stream waiting before they are added to what the run may take."""


class Speaking:
    """Routes the words of one answer to deliveries: the text of reply calls, and bare text to a person."""

    def __init__(self, run: Run, run_state: RunState, reply_sink: ReplySink, show: Callable[[Event], None]) -> None:
        self._run = run
        self._show = show
        self._run_state = run_state
        self._reply_sink = reply_sink
        self._text_id = ""
        self._replies: dict[int, tuple[ReplyStream, PartialString]] = {}
        self._opened: list[ReplyStream] = []

    async def take(self, item: StreamItem) -> None:
        """Pass on the words of one item; waits only when the mouth is many sentences behind."""
        if isinstance(item, TextDelta):
            await self._say_bare(item.text)
        elif isinstance(item, ToolCallStarted) and item.name == REPLY:
            self._replies[item.index] = self._open(item.id), PartialString("text")
        elif isinstance(item, ArgumentsDelta) and item.index in self._replies:
            delivery, partial = self._replies[item.index]
            if words := partial.feed(item.text):
                self._show_chunk(words)
                await delivery.feed(words)
            if '"' in item.text and partial.is_whole:
                await delivery.close()  # the last sentence need not wait for the rest of the answer, nor for the disk

    async def finish(self) -> None:
        """Say that the bare text is whole; the text of a reply call was, at its closing quote."""
        if self._text_id:
            await self._run_state.deliveries[self._text_id].close()

    async def break_off(self) -> str:
        """Drop unfinished sentences and return the whole ones that were handed on."""
        for delivery in self._opened:
            await delivery.cut()
        return " ".join(delivery.handed for delivery in self._opened if delivery.handed)

    async def stopped(self) -> str:
        """Drop unfinished sentences, and return the words that stay in the context: those that were handed on.

        Of an event that was superseded only what was heard stays; where nothing was, its replies are forgotten too.
        """
        handed = await self.break_off()
        if self._run.stop.reason != "superseded":
            return handed
        opened = [name for name, delivery in self._run_state.deliveries.items() if delivery in self._opened]
        heard = [(await self._run_state.deliveries[name].ended()).heard for name in opened]
        if not any(heard):
            for name in opened:
                del self._run_state.deliveries[name]
        return " ".join(words for words in heard if words)

    async def _say_bare(self, text: str) -> None:
        if not self._run.event.is_from_person or not (self._text_id or text.strip()):
            return
        if not self._text_id:
            self._text_id = f"text-{new_id()}"
            self._open(self._text_id)
        self._show_chunk(text)
        await self._run_state.deliveries[self._text_id].feed(text)

    def _show_chunk(self, words: str) -> None:
        """Let observers see the answer grow; the journal gets it whole."""
        self._show(step("llm.results", self._run.event, self._run.id, {"event": "text_chunk", "chunk": words}))

    def _open(self, call_id: str) -> ReplyStream:
        delivery = self._reply_sink.open(Reply(self._run.event, call_id, self._run_state.already))
        self._run_state.deliveries[call_id] = delivery
        self._opened.append(delivery)
        return delivery


@dataclass(slots=True)
class Thinker:
    """Asks the models in order until one answers; journals the request before and the answer after."""

    models: Sequence[ChatModel]
    """The chosen one first, the offline model last."""
    bus: Bus
    contexts: Contexts
    run_state: RunState
    reply_sink: ReplySink
    mailbox: Mailbox
    clock: Callable[[], float] = monotonic
    is_away: bool = True
    """Whether the first model did not answer the last time it was asked."""

    async def answer(self, run: Run) -> Message | None:
        """Append the model's answer to the epoch and return it; None when it broke off or was empty: think again.

        A stream that breaks off, or is stopped, becomes a reply with exactly the words that were handed on. A model
        that breaks off twice in one run is passed over. Raises `ModelError` when no model can be reached,
        `ContextTooLong` at once when one refuses the list for its length, `Stopped` when the run was stopped.
        """
        run.cycle = new_id()
        run.budget.model_calls += 1
        passed_over = min(run.fruitless // FRUITLESS_PER_MODEL, len(self.models) - 1)
        failure = ModelError("no model is configured")
        for place, model in enumerate(self.models[passed_over:]):
            speaking = Speaking(run, self.run_state, self.reply_sink, self.bus.show)
            try:
                message = await self._ask(model, run, speaking, is_first=place == 0)
            except Stopped:
                if handed := await speaking.stopped():
                    await keep_interrupted(self.bus, self.contexts, run, handed, "you were stopped here")
                if run.stop.reason == "preempted":  # a thought that a person's words cut off is given back
                    run.budget.model_calls -= 1
                    await self.mailbox.charge(run.event.id, model_calls=-1)
                raise
            except StreamBroken as error:
                log.warning("stream_broken", model=model.name, reason=str(error))
                run.fruitless += 1
                if handed := await speaking.break_off():
                    await keep_interrupted(self.bus, self.contexts, run, handed, "the answer broke off here")
                return None
            except ModelError as error:
                failure = self._noted(model, error)
            else:
                if model is not self.models[-1]:
                    await self._welcome()
                return message
        raise failure

    def _noted(self, model: ChatModel, error: ModelError) -> ModelError:
        """Take note that a model failed; a list that is too long is raised, to be asked again when it is shorter."""
        if isinstance(error, ContextTooLong):
            raise error
        log.warning("model_failed", model=model.name, reason=str(error))
        self.is_away = True
        return error

    async def _welcome(self) -> None:
        """Wake what waits for a model, if there was none before."""
        if self.is_away:
            self.is_away = False
            await self.mailbox.wake(MODEL_AVAILABLE)

    async def _ask(self, model: ChatModel, run: Run, speaking: Speaking, *, is_first: bool) -> Message | None:
        epoch, asked_at = run.epoch, self.clock()
        await self._journal_request(model, run, is_first=is_first)
        log.info("model_asked", model=model.name, messages=len(epoch.messages))
        first_at = 0.0
        answer: Answer | None = None
        async with run.stop.waits(), aclosing(model.stream(epoch.messages, epoch.tools)) as stream:
            async for item in stream:
                first_at = first_at or self.clock()
                if isinstance(item, Answer):
                    await speaking.finish()
                    answer = item
                    break
                handed_at = self.clock()
                await speaking.take(item)
                if (waited := self.clock() - handed_at) > NOTICEABLE_WAIT:
                    run.stop.allow(waited)
        if answer is None:
            raise StreamBroken(f"{model.name} ended its answer without an end", Message("assistant"))
        marks = {"asked": asked_at, "first_token": first_at, "whole": self.clock()}
        return await self._keep(run, model, answer, marks)

    async def _journal_request(self, model: ChatModel, run: Run, *, is_first: bool) -> None:
        """Write down what the model is about to be asked; the thought is counted once, whoever has it in the end.

        It need not last: where the power goes before anything came of the answer, it is asked again.
        """
        body: dict[str, Json] = {
            "model": model.name,
            "epoch": run.epoch.id,
            "messages": len(run.epoch.messages),
            "digest": run.epoch.digest,
            "cycle": run.cycle,
        }
        request = self.bus.in_transaction(step("llm.requests", run.event, run.id, body), durable=False)
        await self.mailbox.charge(run.event.id, model_calls=int(is_first), in_transaction=request)

    async def _keep(self, run: Run, model: ChatModel, answer: Answer, marks: dict[str, float]) -> Message | None:
        usage = answer.usage
        body: dict[str, Json] = {
            "model": model.name,
            "finish_reason": answer.finish_reason,
            "prompt_tokens": usage.prompt_tokens,
            "cached_tokens": usage.cached_tokens,
            "completion_tokens": usage.completion_tokens,
            "cost_usd": round(usage.cost, 6),
            "first_token_at": marks["first_token"],
            "first_token_seconds": round(marks["first_token"] - marks["asked"], 4),
            "seconds": round(marks["whole"] - marks["asked"], 4),
        }
        log.info("model_answered", **body)
        if usage.cost:
            await self.mailbox.charge(run.event.id, usd=usage.cost)
        body |= {"cycle": run.cycle, "tool_calls": [call.name for call in answer.message.tool_calls]}
        result = step("llm.results", run.event, run.id, body)
        if not answer.message.tool_calls and not answer.message.content.strip():
            run.fruitless += 1
            await self.bus.publish(result)
            return None
        envelope = self.contexts.envelope(run.epoch, run.event, run.id, answer.message, run.cycle)
        self.bus.hold(result, envelope, durable=False)  # what acts on it sees to it
        self.contexts.append(run.epoch, answer.message)
        return answer.message


async def keep_interrupted(bus: Bus, contexts: Contexts, run: Run, handed: str, why: str) -> None:
    """Append a reply with exactly the words that reached the mouth, and its result saying that no more of it did."""
    arguments = json.dumps({"text": handed}, ensure_ascii=False)
    call = ToolCall(f"call_{new_id()[:24]}", REPLY, arguments)
    reply = Message("assistant", tool_calls=(call,))
    result = Message("tool", f"interrupted: {why}; only this much was said, go on after it", tool_call_id=call.id)
    kept = [contexts.envelope(run.epoch, run.event, run.id, message, run.cycle) for message in (reply, result)]
    await bus.publish(*kept)
    for message in (reply, result):
        contexts.append(run.epoch, message)
