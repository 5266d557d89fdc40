"""Carries out the tool calls of one answer, together; their results are appended in the order of the calls."""

import asyncio
import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Final

from msgspec import Struct

from agent.bus import Bus
from agent.confirmation.confirmations import Confirmations
from agent.context.block import RESULT, ROLES
from agent.context.epochs import Contexts
from agent.errors import Stopped
from agent.event import OUTSIDE, Event
from agent.mailbox import Mailbox
from agent.model.messages import Message, ToolCall
from agent.model.stream.arguments import is_cut
from agent.record import step
from agent.run.run import Run
from agent.run.run_state import RunState
from agent.run.system_replies import SystemReplies
from agent.tools.events import ENDINGS
from agent.tools.registry.finding import unwrapped
from agent.tools.registry.registry import ToolRegistry
from agent.tools.reply import DELIVERED, REPLY, WHOLE
from agent.tools.tool import Call, Tool, bounded, run_tool
from memory.errors import MemoryFailure
from memory.json_value import Json, parse_json

REFUSED = "refused: the budget of this event is used up; reply with what you have and complete it, or suspend it"
NOT_WHOLE = "refused: your reply did not reach its end; say the rest first"
NOT_DONE = "refused: {names} came to nothing, as you see only now; set it right or tell them of it, then end this event"
UNHEARD = "refused: they asked you, and have no word of yours; answer with reply, or end it again to stay silent"
TWICE = "refused: you have ended this event in the same breath"
BROKEN_OFF = "cancelled: a person spoke before this call had a result; it had no effect"
TIME_IS_UP = "cancelled: the time for this event was up before this call had a result"
SAID_SO_FAR = "interrupted: only this much was handed on: "
HAD_ALREADY = "; they have had this of it already, do not say it again: "
SAME = "refused: you have made this very call"
AGAIN = f"{SAME} {{times}} times in this run; its result will not change: do something else"

MOST_REPEATS: Final = 2
"""Times the same call with the same arguments is carried out in a run; as often it is told then that it is the same.

A model that calls nothing else after that goes on so until its budget is used up: it has one more answer.
"""

MOST_OF_A_NAME: Final = 64
"""Characters of a tool's name that is none; no name has more."""

MOST_SHOWN: Final = 2_000
"""Characters of a result that observers are shown; the context has all of it."""

_STATUS: Final = {
    **dict.fromkeys(("error", "unavailable"), "error"),
    **dict.fromkeys(("refused", "not done"), "refused"),
    **dict.fromkeys(("cancelled", "interrupted", "unknown"), "cancelled"),
    "asked": "asked",
}
"""What became of a call, by how its result begins; "ok" is everything else."""

FILLER_AFTER: Final = 1.5
"""Seconds of waiting for tools after which a person hears that it takes a moment."""

FILLER_SOON: Final = 0.3
"""The same where that is expected: within it an answer that is there after all makes the words superfluous."""

REPEATABLE = ENDINGS | {REPLY}
"""Calls of which the mailbox and the mouth see to it that they take effect once, however often they are carried out.

So they are carried out again after a crash, and the journal need not have them before: a sentence is committed by the
mouth, an ending in the transaction that puts the event away, and both take along what is held.
"""


class Actor(Struct, frozen=True):
    """Carries out the calls of one answer; journals them before, and their results after."""

    registry: ToolRegistry
    bus: Bus
    contexts: Contexts
    run_state: RunState
    mailbox: Mailbox
    system_replies: SystemReplies
    confirmations: Confirmations
    _took: dict[str, float] = {}
    """Seconds that each tool took last, by its name: what is slow once is expected to be again."""

    async def act(self, run: Run, calls: Sequence[ToolCall]) -> None:
        """Answer the calls, each once and in their order; also when the run is stopped meanwhile."""
        calls = [unwrapped(call) for call in calls]
        used_before = run.budget.tool_calls
        refused = self._refused(run, calls)
        await self.answer(run, calls, refused, charged=run.budget.tool_calls - used_before)

    async def answer(self, run: Run, calls: Sequence[ToolCall], known: Mapping[str, str], *, charged: int = 0) -> None:
        """Append one result for each call: what is `known` of it already by its id, else what carrying it out gives.

        The calls are journaled, and `charged` of them counted, before the first one acts. What needs a person's yes is
        asked after the others, instead of being done. Ending calls come last, and complete_event only after whole
        replies and calls that came to something.
        """
        calls = [unwrapped(call) for call in calls]
        results, question = dict(known), None
        held = await self.confirmations.hold(run, [call for call in calls if call.id not in results])
        results |= held.refused
        wanted = [call for call in calls if call.id not in results and call is not held.asked]
        await self._journal_calls(run, wanted, charged)
        together = [call for call in wanted if call.name not in ENDINGS]
        results |= await self._together(run, together)
        if held.asked is not None:
            results[held.asked.id], question = await self.confirmations.ask(run, held)
        for call in wanted:
            if call.name in ENDINGS:
                failed = [each.name for each in wanted if _status(results.get(each.id, "")) == "error"]
                others = [(each.name, results[each.id]) for each in calls if each.id in results]
                results[call.id] = await self._end(run, call, others, failed)
        for delivery in self.run_state.deliveries.values():
            await delivery.cut()  # of a malformed call: its whole sentences stay, the rest is dropped
        self._append(run, calls, results, wanted)
        if question is not None:
            await self.bus.publish(question)  # with the results: it waits, and its event is over, or neither

    async def call(self, run: Run, call: ToolCall) -> str:
        """Carry out one call, and return its observation."""
        tool = self.registry.find(call.name)
        if tool is None:
            if any(spec.name == call.name for spec in run.epoch.tools):
                return f"unavailable: {call.name} is not there at the moment; do without it, or try again later"
            return f"error: there is no tool {call.name[:MOST_OF_A_NAME]!r}; you have: {', '.join(self.registry.names)}"
        try:
            run.stop.check()
            if tool.effect == "irreversible":
                return await self._to_its_end(run, call, tool)
            run.has_effect |= tool.effect != "pure" and call.name != REPLY
            async with run.stop.waits():
                observation = await run_tool(tool, call.arguments, Call(call.id, run.event))
        except Stopped:
            return await self._broken_off(run, call)
        return await self._with_what_was_said(call, observation) if call.name == REPLY else observation

    def _refused(self, run: Run, calls: Sequence[ToolCall]) -> dict[str, str]:
        """Count the calls against the budget; return the answers of those that are not carried out, by their ids."""
        counted = [call for call in calls if (tool := self.registry.find(call.name)) is None or tool.counted]
        too_many = counted[run.budget.grant(len(counted)) :]
        run.refused = run.refused or bool(too_many)
        refused = {call.id: REFUSED for call in too_many}
        deaf = 0
        for call in calls:
            if call.id not in refused and call.name not in REPEATABLE and (times := _count(run, call)) > MOST_REPEATS:
                refused[call.id] = AGAIN.format(times=times - 1)
                deaf += times > 2 * MOST_REPEATS
        if deaf == len(calls) > 0:
            run.refused, refused = True, dict.fromkeys(refused, REFUSED)
        return refused

    async def _journal_calls(self, run: Run, calls: Sequence[ToolCall], charged: int) -> None:
        """Write down what is about to be done, as early and as durably as it needs: by the worst of the calls."""
        requests = list[Event]()
        for call in calls:
            requests += (step("tools.requests", run.event, run.id, _call(run, call)), _started(run, call))
        if charged:
            # The loss of a call without an effect is harmless: it is asked again, and looks again.
            in_transaction = self.bus.in_transaction(*requests, durable=self._have_effect(calls))
            await self.mailbox.charge(run.event.id, tool_calls=charged, in_transaction=in_transaction)
        elif all(call.name in REPEATABLE for call in calls):
            self.bus.hold(*requests, durable=False)
        else:
            await self.bus.publish(*requests, durable=self._have_effect(calls))

    def _have_effect(self, calls: Sequence[ToolCall]) -> bool:
        """Whether one of the calls leaves something behind of which only the journal can tell."""
        lasting = (call for call in calls if call.name not in REPEATABLE)
        return any((tool := self.registry.find(call.name)) is not None and tool.effect != "pure" for call in lasting)

    async def _together(self, run: Run, calls: Sequence[ToolCall]) -> dict[str, str]:
        """Carry out the calls at the same time; return their observations by call id."""
        left = {call.id for call in calls}
        async with asyncio.TaskGroup() as group:
            filler = group.create_task(self._fill(run, calls))
            async with asyncio.TaskGroup() as together:
                tasks = {call.id: together.create_task(self._carried_out(run, call, left)) for call in calls}
            filler.cancel()
        return {name: task.result() for name, task in tasks.items()}

    async def _carried_out(self, run: Run, call: ToolCall, left: set[str]) -> str:
        """Carry out a call, tell at once that it is over, and return its observation; `left` is what is under way.

        After the last one the next step follows at once, and takes the news along.
        """
        clock = asyncio.get_running_loop().time
        began = clock()
        observation = await self.call(run, call)
        left.discard(call.id)
        if call.name not in REPEATABLE:
            run.stages.used(call.name, began, clock())
        tool = self.registry.find(call.name)
        seconds = clock() - began
        finished = _finished(run, call, observation, seconds, tool.outside if tool is not None else "")
        if tool is not None:
            self._took[tool.name] = seconds
        if left:
            with suppress(MemoryFailure):  # what comes next cannot be written either, and ends the run
                await self.bus.publish(*finished, durable=False)
                return observation
        self.bus.hold(*finished, durable=False)
        return observation

    async def _fill(self, run: Run, calls: Sequence[ToolCall]) -> None:
        """Say once that it takes a moment, when nothing else was said for this event and no answer is there yet."""
        await asyncio.sleep(FILLER_SOON if any(map(self._is_slow, calls)) else FILLER_AFTER)
        if not self.run_state.deliveries and not self.run_state.already:
            await self.system_replies.fill(run.event)

    def _is_slow(self, call: ToolCall) -> bool:
        """Whether a tool is expected to take long: by what it says, or by how long it took last."""
        tool = self.registry.find(call.name)
        return tool is not None and (tool.is_slow or self._took.get(tool.name, 0.0) > FILLER_AFTER)

    async def _to_its_end(self, run: Run, call: ToolCall, tool: Tool) -> str:
        """Run a tool that nobody may break off; it has its own time limit."""
        run.has_effect = True
        run.kept_on += 1
        try:
            return await run_tool(tool, call.arguments, Call(call.id, run.event))
        finally:
            run.kept_on -= 1

    async def _with_what_was_said(self, call: ToolCall, observation: str) -> str:
        """Tell of a reply that was called wrongly what was said of it while it came, lest it say that once more.

        One that was cut off before its first sentence ended is said as far as it came: no other would come further.
        """
        delivery = self.run_state.deliveries.get(call.id)
        if delivery is None or observation in WHOLE:
            return observation
        if handed := delivery.handed.strip():
            return f"{observation}{HAD_ALREADY}{handed}"
        if not is_cut(call.arguments):
            return observation
        await delivery.close()
        return DELIVERED

    async def _broken_off(self, run: Run, call: ToolCall) -> str:
        delivery = self.run_state.deliveries.get(call.id)
        if call.name == REPLY and delivery is not None:
            await delivery.cut()
            return f"{SAID_SO_FAR}{delivery.handed}"
        return TIME_IS_UP if run.stop.reason == "timed_out" else BROKEN_OFF

    async def _end(self, run: Run, call: ToolCall, others: Sequence[tuple[str, str]], failed: Sequence[str]) -> str:
        """Carry out an ending call; `others` is what came of the others of the same answer, by name.

        What was said beside a call that `failed` just now was said before anybody knew, so the model has to see that
        first; but for one that it keeps on making, or that has no step left. Where the answer was cut off by a crash,
        what it said and did is not asked for again.
        """
        if self.run_state.ending is not None:
            return TWICE
        if not (run.is_reminded or run.refused or failed) and self._forgets_to_answer(run, others):
            run.is_reminded = True
            return UNHEARD
        if call.name != "complete_event":
            return await self.call(run, call)
        if not WHOLE.issuperset(result for name, result in others if name == REPLY):
            return NOT_WHOLE
        if failed and not run.refused:
            return NOT_DONE.format(names=", ".join(dict.fromkeys(failed)))
        run.has_failed = bool(failed) or any(result.startswith(SAME) for _, result in others)
        return await self.call(run, call)

    def _forgets_to_answer(self, run: Run, others: Sequence[tuple[str, str]]) -> bool:
        """Whether an event ends that was surely meant for it, of which nothing came: no word, no silence, no deed."""
        has_words = self.run_state.has_words or self.run_state.said_before or any(name == REPLY for name, _ in others)
        return run.event.is_addressed and not (has_words or run.has_effect)

    def _append(
        self, run: Run, calls: Sequence[ToolCall], observations: Mapping[str, str], wanted: Collection[ToolCall]
    ) -> None:
        """Append the results to the context; the journal gets them with what is published next.

        `wanted` are those that were carried out; of all but the ending ones it is told already that they are over.
        """
        images = self.run_state.images
        results = [
            Message(ROLES[RESULT], observations[call.id], tool_call_id=call.id, images=images.pop(call.id, ()))
            for call in calls
        ]
        envelopes: list[Event] = []
        for call, result in zip(calls, results, strict=True):
            if call not in wanted:
                envelopes += [_started(run, call), *_finished(run, call, result.content)]
            elif call.name in ENDINGS:
                envelopes += _finished(run, call, result.content)
            envelopes.append(self.contexts.envelope(run.epoch, run.event, run.id, result, run.cycle))
        self.bus.hold(*envelopes, durable=self._have_effect(calls))
        for result in results:
            self.contexts.append(run.epoch, result)


def _status(observation: str) -> str:
    return _STATUS.get(observation.partition(":")[0], "ok")


def _count(run: Run, call: ToolCall) -> int:
    """Count a call among its equals, whatever the order and spacing of its arguments; return how many there are."""
    try:
        arguments = json.dumps(parse_json(call.arguments), sort_keys=True)
    except ValueError:
        arguments = call.arguments
    run.made[call.name, arguments] += 1
    return run.made[call.name, arguments]


def _finished(
    run: Run, call: ToolCall, observation: str, seconds: float = 0.0, outside: str = ""
) -> tuple[Event, Event]:
    """Return the steps that tell that a call is over, and whose words its result carries."""
    body: dict[str, Json] = {"call_id": call.id, "tool_name": call.name, "cycle": run.cycle}
    finished: dict[str, Json] = {
        "event": "tool_call_finished",
        **body,
        "status": _status(observation),
        "result": bounded(observation, MOST_SHOWN),
        "seconds": round(seconds, 4),
    }
    if outside:
        run.outside.add(outside)
        body = {**body, OUTSIDE: outside}
    return step(RESULT, run.event, run.id, body), step("ui.events", run.event, run.id, finished)


def _started(run: Run, call: ToolCall) -> Event:
    return step("ui.events", run.event, run.id, {"event": "tool_call_started", **_call(run, call)})


def _call(run: Run, call: ToolCall) -> dict[str, Json]:
    return {"call_id": call.id, "tool_name": call.name, "args": call.arguments, "cycle": run.cycle}
