"""One round of action: the calls of an answer run together, their results are appended in the order of the calls."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from agent.bus import Bus
from agent.context.epochs import Contexts
from agent.desk import Desk, Suspension
from agent.event import Event
from agent.model.messages import Json, Message, ToolCall
from agent.record import step
from agent.run import Run
from agent.tools.events import COMPLETED, ENDINGS, SUSPENDED
from agent.tools.registry import ToolRegistry
from agent.tools.reply import DELIVERED, REPLY
from agent.tools.tool import Call, run_tool

REFUSED = "refused: the budget of this event is used up; reply with what you have and complete it, or suspend it"
NOT_WHOLE = "refused: your reply did not reach its end; say the rest first"
INTERRUPTED = (
    "unknown: the machine stopped before this call had a result; look whether it took effect before you repeat it"
)

GOOD = (DELIVERED, COMPLETED, SUSPENDED, "interrupted")
"""How the observation of a call that can be repeated begins, when it took effect."""

REPEATABLE = ENDINGS | {REPLY}
"""Calls that are carried out again after a crash: their effect is idempotent."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Carries out the calls of one answer; journals them before, and their results after."""

    registry: ToolRegistry
    bus: Bus
    contexts: Contexts
    desk: Desk

    async def act(self, run: Run, calls: Sequence[ToolCall], *, after_crash: bool = False) -> None:
        """Run the calls and append one result for each, in call order.

        Ending calls run last, and complete_event only after whole replies.

        After a crash only what can be repeated is; the other calls get a result that says what is not known.
        """
        observations = dict(self._answered_at_once(run, calls, after_crash=after_crash))
        open_calls = [call for call in calls if call.id not in observations]
        await self.bus.publish(*(self._requested(run, call) for call in open_calls))
        async with asyncio.TaskGroup() as together:
            tasks = {
                call.id: together.create_task(self._call(call, run.event))
                for call in open_calls
                if call.name not in ENDINGS
            }
        observations |= {name: task.result() for name, task in tasks.items()}
        for call in open_calls:
            if call.name in ENDINGS:
                observations[call.id] = await self._end(call, run.event, observations, calls)
        await self._cut_unfinished()
        await self._append(run, calls, observations)

    def _answered_at_once(self, run: Run, calls: Sequence[ToolCall], *, after_crash: bool) -> list[tuple[str, str]]:
        if after_crash:
            return [(call.id, INTERRUPTED) for call in calls if call.name not in REPEATABLE]
        counted = [call for call in calls if (tool := self.registry.find(call.name)) is None or tool.counted]
        refused = counted[run.budget.grant(len(counted)) :]
        run.refused = run.refused or bool(refused)
        return [(call.id, REFUSED) for call in refused]

    async def _call(self, call: ToolCall, event: Event) -> str:
        tool = self.registry.find(call.name)
        if tool is None:
            return f"error: there is no tool {call.name!r}; you have: {', '.join(self.registry.names)}"
        return await run_tool(tool, call.arguments, Call(call.id, event))

    async def _end(self, call: ToolCall, event: Event, observations: dict[str, str], calls: Sequence[ToolCall]) -> str:
        replies = [observations[other.id] for other in calls if other.name == REPLY]
        if call.name == "complete_event" and any(observation != DELIVERED for observation in replies):
            return NOT_WHOLE
        observation = await self._call(call, event)
        if isinstance(self.desk.ending, Suspension) and call.name == "complete_event":
            return "refused: the event is suspended in the same breath"
        return observation

    async def repeat(self, run: Run) -> None:
        """After a crash: carry out again this event's replies and endings that had a good result.

        Sentences that were committed before are skipped; nothing is appended, the results stand.
        """
        start = run.epoch.position_of(run.event.id) or 0
        said = run.epoch.messages[start:]
        results = {message.tool_call_id: message.content for message in said if message.role == "tool"}
        for call in (call for message in said for call in message.tool_calls if call.name in REPEATABLE):
            if results.get(call.id, "error").startswith(GOOD):
                await self._call(call, run.event)

    async def _cut_unfinished(self) -> None:
        """End the deliveries whose call turned out malformed: their whole sentences stay, the rest is dropped."""
        for delivery in self.desk.deliveries.values():
            await delivery.cut()

    def _requested(self, run: Run, call: ToolCall) -> Event:
        body: dict[str, Json] = {"call_id": call.id, "tool_name": call.name, "args": call.arguments}
        return step("tools.requests", run.event, run.id, body)

    async def _append(self, run: Run, calls: Sequence[ToolCall], observations: dict[str, str]) -> None:
        results = [Message("tool", observations[call.id], tool_call_id=call.id) for call in calls]
        envelopes: list[Event] = []
        for call, result in zip(calls, results, strict=True):
            body: dict[str, Json] = {"call_id": call.id, "tool_name": call.name}
            envelopes += [
                step("tools.results", run.event, run.id, body),
                self.contexts.envelope(run.epoch, run.event, run.id, result),
            ]
        await self.bus.publish(*envelopes)
        for result in results:
            self.contexts.append(run.epoch, result)
