"""Resumes a run after a crash: finishes the round that was under way, as far as the journal has it."""

from dataclasses import dataclass
from typing import Final

from agent.bus import Bus
from agent.context.epochs import Contexts
from agent.model.messages import Message, ToolCall
from agent.run.act import REPEATABLE, Actor
from agent.run.run import Run
from agent.run.run_state import RunState
from agent.run.system_replies import SystemReplies
from agent.run.think import keep_interrupted
from agent.tools.events import COMPLETED, SUSPENDED
from agent.tools.reply import DELIVERED
from memory.state.journal import Journal

CRASHED: Final = (
    "unknown: the machine stopped before this call had a result; look whether it took effect before you repeat it"
)

NOT_BEGUN: Final = "not done: the machine stopped before this call was begun; nothing came of it"

GOOD: Final = (DELIVERED, COMPLETED, SUSPENDED, "interrupted")
"""How the observation of a call that can be repeated begins, when it took effect."""


@dataclass(frozen=True, slots=True)
class Resuming:
    """Goes on with an event that was under way when the process died, or the state could not be written."""

    actor: Actor
    bus: Bus
    contexts: Contexts
    run_state: RunState
    system_replies: SystemReplies
    journal: Journal

    async def finish_round(self, run: Run) -> Message | None:
        """Bring the round under way to its end, and return its message; None when it is to think.

        No model is asked for what is known already, and no sentence that was committed is said again. The process may
        have died in any of four places, told apart by what stands last. Raises `Stopped`.
        """
        await self._repeat(run)
        if run.unanswered:  # it died in the midst of the calls
            run.move("AWAITING_TOOL_RESULT")
            begun = await self._begun(run)
            open_calls = [call.id for call in run.unanswered if call.name not in REPEATABLE]
            unknown = {call: CRASHED if call in begun else NOT_BEGUN for call in open_calls}
            await self.actor.answer(run, run.unanswered, unknown)
        run.stop.check()
        if run.last.role == "assistant":  # while it said an answer of bare text
            await self.system_replies.deliver(run, "resumed", run.last.content)
        if (
            run.last.role == "user" and self.run_state.already
        ):  # while the answer came: of that, only what was said is left
            handed = " ".join(self.run_state.already).strip()
            await keep_interrupted(self.bus, self.contexts, run, handed, "the machine stopped here")
            return None
        return run.answer  # after a round, or before the first one

    async def _begun(self, run: Run) -> set[str]:
        """Return the ids of the calls that were about to be carried out; what is asked about first was not."""
        requests = await self.journal.entries(topic="tools.requests", event_id=run.event.id)
        return {str(entry.body.get("call_id", "")) for entry in requests}

    async def _repeat(self, run: Run) -> None:
        """Carry out again this event's replies and endings that had a good result; nothing is appended, those stand.

        They may not have been heard, or put into effect.
        """
        for call, result in _results(run):
            if call.name in REPEATABLE and result.startswith(GOOD):
                await self.actor.call(run, call)


def _results(run: Run) -> list[tuple[ToolCall, str]]:
    """Return the calls of this event that have a result, with it, in order."""
    messages = run.epoch.messages[run.epoch.position_of(run.event.id) or 0 :]
    results = {message.tool_call_id: message.content for message in messages if message.role == "tool"}
    calls = [call for message in messages for call in message.tool_calls]
    return [(call, results[call.id]) for call in calls if call.id in results]
