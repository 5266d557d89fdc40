"""One round of action: the calls of an answer run together, their results are appended in the order of the calls."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from agent.bus import Bus
from agent.context.epochs import Contexts
from agent.errors import Stopped
from agent.event import Event
from agent.mailbox import Mailbox
from agent.model.messages import Json, Message, ToolCall
from agent.record import step
from agent.run.desk import Desk
from agent.run.own_words import OwnWords
from agent.run.run import Run
from agent.tools.events import COMPLETED, ENDINGS, SUSPENDED
from agent.tools.registry import ToolRegistry
from agent.tools.reply import DELIVERED, REPLY
from agent.tools.tool import Call, Tool, run_tool

REFUSED = "refused: the budget of this event is used up; reply with what you have and complete it, or suspend it"
NOT_WHOLE = "refused: your reply did not reach its end; say the rest first"
TWICE = "refused: you have ended this event in the same breath"
CRASHED = "unknown: the machine stopped before this call had a result; look whether it took effect before you repeat it"
BROKEN_OFF = "cancelled: a person spoke before this call had a result; it had no effect"
TIME_IS_UP = "cancelled: the time for this event was up before this call had a result"
SAID_SO_FAR = "interrupted: only this much was handed on: "
AGAIN = "refused: you have made this very call {times} times in this run; its result will not change: do something else"

MOST_REPEATS: Final = 2
"""Times the same call with the same arguments is carried out in a run; the next one is told that it is the same."""

FILLER_AFTER: Final = 1.5
"""Seconds of waiting for tools after which a person hears that it takes a moment (G1)."""

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
    mailbox: Mailbox
    words: OwnWords

    async def act(self, run: Run, calls: Sequence[ToolCall], *, after_crash: bool = False) -> None:
        """Run the calls and append one result for each, in call order; also when the run is stopped meanwhile.

        Ending calls run last, and complete_event only after whole replies. After a crash only what can be repeated is;
        the other calls get a result that says what is not known.
        """
        before = run.budget.tool_calls
        observations = dict(self._answered_at_once(run, calls, after_crash=after_crash))
        open_calls = [call for call in calls if call.id not in observations]
        if used := run.budget.tool_calls - before:
            await self.mailbox.charge(run.event.id, tool_calls=used)
        await self.bus.publish(*(envelope for call in open_calls for envelope in _requested(run, call)))
        observations |= await self._together(run, [call for call in open_calls if call.name not in ENDINGS])
        for call in open_calls:
            if call.name in ENDINGS:
                observations[call.id] = await self._end(call, run, observations, calls)
        await self._cut_unfinished()
        self._append(run, calls, observations)

    async def _together(self, run: Run, calls: Sequence[ToolCall]) -> dict[str, str]:
        """Run the calls at the same time; return their observations by call id."""
        async with asyncio.TaskGroup() as group:
            filler = group.create_task(self._fill(run, calls))
            async with asyncio.TaskGroup() as together:
                tasks = {call.id: together.create_task(self._call(call, run)) for call in calls}
            filler.cancel()
        return {name: task.result() for name, task in tasks.items()}

    async def _fill(self, run: Run, calls: Sequence[ToolCall]) -> None:
        """Say once that it takes a moment, when nothing else was said for this event."""
        tools = [tool for call in calls if (tool := self.registry.find(call.name)) is not None]
        if not any(tool.is_slow for tool in tools):
            await asyncio.sleep(FILLER_AFTER)
        if not self.desk.deliveries and not self.desk.already:
            await self.words.fill(run.event)

    def _answered_at_once(self, run: Run, calls: Sequence[ToolCall], *, after_crash: bool) -> list[tuple[str, str]]:
        if after_crash:
            return [(call.id, CRASHED) for call in calls if call.name not in REPEATABLE]
        counted = [call for call in calls if (tool := self.registry.find(call.name)) is None or tool.counted]
        refused = counted[run.budget.grant(len(counted)) :]
        run.refused = run.refused or bool(refused)
        repeated = [
            (call.id, AGAIN.format(times=times - 1))
            for call in calls
            if call not in refused and call.name not in REPEATABLE and (times := _count(run, call)) > MOST_REPEATS
        ]
        return [(call.id, REFUSED) for call in refused] + repeated

    async def _call(self, call: ToolCall, run: Run) -> str:
        tool = self.registry.find(call.name)
        if tool is None:
            if any(spec.name == call.name for spec in run.epoch.tools):
                return f"unavailable: {call.name} is not there at the moment; do without it, or try again later"
            return f"error: there is no tool {call.name!r}; you have: {', '.join(self.registry.names)}"
        try:
            run.stop.check()
            if tool.effect == "irreversible":
                return await self._to_its_end(tool, call, run)
            run.has_effect |= tool.effect != "pure" and call.name != REPLY
            async with run.stop.waits():
                return await run_tool(tool, call.arguments, Call(call.id, run.event))
        except Stopped:
            return await self._broken_off(call, run)

    async def _to_its_end(self, tool: Tool, call: ToolCall, run: Run) -> str:
        """Run a tool that nobody may break off; it has its own time limit."""
        run.has_effect = True
        run.kept_on += 1
        try:
            return await run_tool(tool, call.arguments, Call(call.id, run.event))
        finally:
            run.kept_on -= 1

    async def _broken_off(self, call: ToolCall, run: Run) -> str:
        delivery = self.desk.deliveries.get(call.id)
        if call.name == REPLY and delivery is not None:
            await delivery.cut()
            return f"{SAID_SO_FAR}{delivery.handed}"
        return TIME_IS_UP if run.stop.reason == "timed_out" else BROKEN_OFF

    async def _end(self, call: ToolCall, run: Run, observations: dict[str, str], calls: Sequence[ToolCall]) -> str:
        replies = [observations[other.id] for other in calls if other.name == REPLY]
        if call.name == "complete_event" and any(observation != DELIVERED for observation in replies):
            return NOT_WHOLE
        if self.desk.ending is not None:
            return TWICE
        return await self._call(call, run)

    async def repeat(self, run: Run) -> None:
        """After a crash: carry out again this event's replies and endings that had a good result.

        Sentences that were committed before are skipped; nothing is appended, the results stand.
        """
        start = run.epoch.position_of(run.event.id) or 0
        said = run.epoch.messages[start:]
        results = {message.tool_call_id: message.content for message in said if message.role == "tool"}
        for call in (call for message in said for call in message.tool_calls if call.name in REPEATABLE):
            if results.get(call.id, "error").startswith(GOOD):
                await self._call(call, run)

    async def _cut_unfinished(self) -> None:
        """End the deliveries whose call turned out malformed: their whole sentences stay, the rest is dropped."""
        for delivery in self.desk.deliveries.values():
            await delivery.cut()

    def _append(self, run: Run, calls: Sequence[ToolCall], observations: dict[str, str]) -> None:
        results = [Message("tool", observations[call.id], tool_call_id=call.id) for call in calls]
        envelopes: list[Event] = []
        for call, result in zip(calls, results, strict=True):
            body: dict[str, Json] = {"call_id": call.id, "tool_name": call.name, "cycle": run.cycle}
            envelopes += [
                step("tools.results", run.event, run.id, body),
                self.contexts.envelope(run.epoch, run.event, run.id, result, run.cycle),
                step("ui.events", run.event, run.id, {"event": "tool_call_finished", **body}),
            ]
        self.bus.hold(*envelopes)
        for result in results:
            self.contexts.append(run.epoch, result)


def _count(run: Run, call: ToolCall) -> int:
    """Count a call among its equals, whatever the order and spacing of its arguments; return how many there are."""
    try:
        arguments = json.dumps(json.loads(call.arguments), sort_keys=True)
    except ValueError:
        arguments = call.arguments
    run.made[call.name, arguments] += 1
    return run.made[call.name, arguments]


def _requested(run: Run, call: ToolCall) -> tuple[Event, Event]:
    body: dict[str, Json] = {
        "call_id": call.id,
        "tool_name": call.name,
        "args": call.arguments,
        "cycle": run.cycle,
    }
    started: dict[str, Json] = {"event": "tool_call_started", **body}
    return step("tools.requests", run.event, run.id, body), step("ui.events", run.event, run.id, started)
