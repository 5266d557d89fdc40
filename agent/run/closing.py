"""Ends a run: waits until what was said is heard, journals what was heard, and completes or suspends the event."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

import structlog
from msgspec import Struct
from msgspec.structs import replace

from agent.bus import Bus
from agent.event import GROWTH, MODEL_AVAILABLE, TIMER, USER_TEXT
from agent.mailbox import PERSON, Mailbox, Wake
from agent.mailbox.economy import PUT_OFF
from agent.mailbox.mail import QUIET, speaker_in
from agent.record import COMMAND, COMMAND_RESULT, step
from agent.replies import INTERRUPTED, Delivered, unsaid
from agent.run.budget import MAX_GRANTS
from agent.run.run import Run, Why
from agent.run.run_state import Completion, Ending, GivenUp, RunState, Superseded, Suspension
from agent.run.system_replies import SystemReplies
from agent.turns.stages import TURN_ENDED
from memory.json_value import Json
from memory.state.database import Writer
from memory.state.journal import Entry, Journal
from memory.state.tiers import INTERRUPTED as WAS_INTERRUPTED
from memory.state.tiers import MARKED

log = structlog.get_logger()

PUT_ASIDE: Final = timedelta(seconds=10)
"""How long work that a person's words put aside stays away: a conversation has more than one sentence."""

QUIET_AT_LAST: Final = timedelta(hours=1)
"""When what waits for quiet comes back, though there was none."""

BUDGET_PAUSE: Final = timedelta(hours=1)
"""When its own work that used up its budget comes back, if nobody speaks before."""

LAST_CALLS: Final = 4
"""Calls that the runtime's own note tells of."""

_EXCERPT: Final = 120
"""Characters of a call and of a result in such a note."""


class Closing(Struct, frozen=True):
    """Puts the event in hand away, once everything said was heard."""

    mailbox: Mailbox
    bus: Bus
    run_state: RunState
    system_replies: SystemReplies
    now: Callable[[], datetime]
    journal: Journal

    async def for_stop(self, run: Run) -> Ending:
        """Return how an event ends whose run was stopped; a decision of its own that was made stands."""
        self._tell_stop(run)
        if self.run_state.ending is not None:
            return self.run_state.ending
        if run.stop.reason == "superseded":
            return Superseded()
        if run.stop.reason == "timed_out":
            for delivery in self.run_state.deliveries.values():
                await delivery.cut()
            await self.system_replies.say(run, "timed_out")
            return GivenUp("it took longer than an event may", "TIMED_OUT")
        if run.stop.reason == "interrupted" and (run.event.is_from_person or run.event.type == TIMER):
            return Completion("in the middle of the answer")
        return self._put_aside(run)

    def _put_aside(self, run: Run) -> Suspension:
        """Return until when an event stands back for a person who spoke."""
        at = self.now() + PUT_ASIDE
        if run.waited_for_model:
            return Suspension(run.lease.note, Wake("event", at=at, name=MODEL_AVAILABLE))
        note = "Put aside: a person spoke. " + last_calls(run)
        if run.event.type in GROWTH:
            return Suspension(note, Wake("event", at=self.now() + QUIET_AT_LAST, name=QUIET))
        return Suspension(note, Wake("idle") if run.event.priority < 0 else Wake("time", at=at))

    async def for_budget(self, run: Run) -> Ending:
        """Return how an event ends that may do no more: it comes back with a fresh grant, or is given up, in words.

        A person is told that it was put back only when it happens first: what they say later is about something else.
        """
        if run.budget.is_purse_empty:
            return Completion("ended: the tokens or the money for it are used up")
        if run.budget.is_task_over or run.budget.is_day_over:
            return self._for_own_work(run)
        if run.lease.grants >= MAX_GRANTS:
            await self.system_replies.say(run, "gave_up")
            return GivenUp(f"the budget was used up {MAX_GRANTS + 1} times")
        if not run.lease.grants and not _has_words(run):
            await self.system_replies.say(run, "out_of_budget")
        # The number also tells one hand-over from the other, where the same calls were made in both.
        note = f"The budget was used up, {run.lease.grants + 1} of {MAX_GRANTS + 1} times. {last_calls(run)}"
        if run.event.is_from_person:
            return Suspension(note, Wake("event", name=speaker_in(run.event)), for_budget=True)
        return Suspension(note, Wake("event", at=self.now() + BUDGET_PAUSE, name=PERSON), for_budget=True)

    def _for_own_work(self, run: Run) -> Ending:
        """Return how the agent's own work ends that has taken what it may, in a day or altogether."""
        if run.event.type == TIMER:
            return Completion("not thought about: what the agent's own work may take is used up")
        if run.budget.is_task_over:
            return GivenUp("what came of its task has taken all the model calls that it may")
        # the mailbox lets it wait for the next day
        return Suspension(f"{PUT_OFF} {last_calls(run)}", Wake("time", at=self.now()))

    async def finish(self, run: Run, ending: Ending) -> None:
        """Wait until everything said was heard, then put the event away; nobody who wrote is left without a word.

        To what was heard it may keep silent: it may not have been addressed. But where it was and something was done,
        or where its calls failed, it meant no silence.
        """
        is_answer = isinstance(ending, Completion) and run.stop.reason is None and run.event.is_from_person
        if is_answer and not (self.run_state.has_words or self.run_state.said_before):
            if run.has_failed:
                await self.system_replies.say(run, "failed_midway" if run.has_effect else "failed")
            elif run.event.is_addressed and (run.has_effect or run.event.type == USER_TEXT):
                await self.system_replies.say(run, "done_without_words" if run.has_effect else "no_words")
        accounts = await self._accounts()
        self._tell_stop(run)
        was_heard = bool(self.run_state.already) or any(account.heard for account in accounts)
        if broken := [account for account in accounts if account.interrupted]:
            await self._keep_unsaid(run, broken)
        await self.end(run, in_the_end(ending, run.stop.reason, was_heard=was_heard))

    async def end(self, run: Run, ending: Ending) -> None:
        """Put the event away and tell that the run is over, in one transaction: no kill comes between the two."""
        self._tell_stop(run)
        envelopes = [step(topic, run.event, run.id, body) for topic, body in last_words(run, ending)]
        if run.event.is_from_person:
            run.stages.mark("done")
            told = run.stages.body("SUPERSEDED" if isinstance(ending, Superseded) else ending.status)
            envelopes.append(step(TURN_ENDED, run.event, run.id, told))
        # Lost to the power, a completion is made again out of what the journal has: nobody is told anything twice.
        in_transaction = self.bus.in_transaction(*envelopes, durable=not isinstance(ending, Completion))
        await self._put_away(run, ending, in_transaction)
        run.move(ending.status)
        log.info("run_finished", status=ending.status, model_calls=run.budget.model_calls)

    def _tell_stop(self, run: Run) -> None:
        """Tell of the command that stopped the run, by the time at which it was given: once, with what is next."""
        if run.stop.reason is None or run.is_stop_told:
            return
        run.is_stop_told = True
        command = step(COMMAND, run.event, run.id, {"command": "stop", "reason": run.stop.reason})
        self.bus.hold(replace(command, created_at=run.stop.given_at or command.created_at), durable=False)

    async def _accounts(self) -> list[Delivered]:
        """Wait until all was heard or dropped, and return what became of each reply."""
        if self.run_state.is_speaking:
            # Hearing may take a while, and what is decided has to outlive a kill meanwhile.
            await self.bus.publish(durable=False)
        return [await delivery.ended() for delivery in self.run_state.deliveries.values()]

    async def _keep_unsaid(self, run: Run, broken: Sequence[Delivered]) -> None:
        """Write down how far it was heard, at once: after a crash it must not go on with it."""
        body: dict[str, Json] = {
            "heard": " ".join(account.heard for account in broken if account.heard),
            "unsaid": " ".join(rest for account in broken if (rest := unsaid(account, self.run_state.already))),
        }
        run.epoch.may_have_unsaid = True
        await self.bus.publish(step(INTERRUPTED, run.event, run.id, body))

    async def _put_away(self, run: Run, ending: Ending, in_transaction: Writer) -> None:
        event = run.event
        if isinstance(ending, Suspension):
            await self.mailbox.suspend(
                event.id,
                ending.note,
                ending.wake,
                fresh_grant=ending.for_budget,
                reason=ending.reason,
                in_transaction=in_transaction,
            )
        elif isinstance(ending, GivenUp):
            await self.mailbox.fail(event.id, ending.reason, in_transaction=in_transaction)
        elif isinstance(ending, Superseded):
            await self.mailbox.supersede(event.id, run.superseded_by, in_transaction=in_transaction)
        else:
            await self.mailbox.complete(
                event.id, ending.summary, lambda within: self._figures(run, within), in_transaction=in_transaction
            )

    def _figures(self, run: Run, within: sqlite3.Connection) -> dict[str, Json]:
        """Return what an event took over its whole life, kills and suspensions included: the journal has it.

        seconds from its first hand-over to now by the clock on the wall; tokens as the providers counted them.
        """
        topics = ("runs.new", "llm.requests", "llm.results", "tools.results")
        steps = self.journal.entries_within(within, topic=topics, event_id=run.event.id)
        answers = [entry for entry in steps if entry.topic == "llm.results"]
        begun = next((entry.at for entry in steps if entry.topic == "runs.new"), None)
        seconds = (self.now() - begun).total_seconds() if begun else 0.0
        asked = (str(entry.body.get("cycle", "")) for entry in steps if entry.topic == "llm.requests")
        return {
            "seconds": round(max(0.0, seconds), 3),
            "prompt_tokens": _summed(answers, "prompt_tokens"),
            "cached_tokens": _summed(answers, "cached_tokens"),
            "completion_tokens": _summed(answers, "completion_tokens"),
            "model_calls": len({*asked} - {""}),
            "tool_calls": sum(entry.topic == "tools.results" for entry in steps),
        }


def in_the_end(ending: Ending, stopped: Why | None, *, was_heard: bool) -> Ending:
    """Return how an event ends, now that it is known whether anything was heard of its answer.

    Superseded it is only while nothing was, and then whatever it decided; an interruption stands in the summary.
    """
    if stopped == "superseded" and not was_heard:
        return Superseded()
    if isinstance(ending, Superseded):
        return Completion("superseded too late: some of the answer was heard")
    if stopped == "interrupted" and isinstance(ending, Completion):
        return replace(ending, summary=f"{WAS_INTERRUPTED}{ending.summary}")
    return ending


def last_words(run: Run, ending: Ending) -> Iterator[tuple[str, dict[str, Json]]]:
    """Yield the topics and bodies of a run's last steps, in order."""
    if isinstance(ending, Completion) and ending.importance is not None:
        yield MARKED, {"importance": ending.importance, "reason": ending.reason, "summary": ending.summary}
    if run.stop.reason is not None:
        yield COMMAND_RESULT, {"command": "stop", "status": "completed"}
    error: dict[str, Json] = {"error": ending.reason} if isinstance(ending, GivenUp) else {}
    yield "ui.events", {"event": "run_finished", "status": ending.status, **error}


def last_calls(run: Run) -> str:
    """Return the last calls of a run and the beginnings of their results, as a note to it."""
    made = run.calls[-LAST_CALLS:]
    lines = [f"{call.name} {call.arguments[:_EXCERPT]} -> {result[:_EXCERPT]}" for call, result in made]
    return "Last calls: " + "; ".join(lines) if lines else "No call was made yet."


def _summed(entries: Sequence[Entry], key: str) -> int:
    """Return the sum of a count in the bodies of entries; one whose words were erased counts nothing."""
    return sum(count for entry in entries if isinstance(count := entry.body.get(key), int))


def _has_words(run: Run) -> bool:
    """Whether its last answer said anything."""
    answer = run.answer
    return answer is not None and bool(answer.content or any(call.name == "reply" for call in answer.tool_calls))
