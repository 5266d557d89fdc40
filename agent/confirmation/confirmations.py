"""Asks a person before a call, keeps the question until it is answered, and lets one plain yes carry it out once."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

import structlog
from msgspec import Struct
from msgspec.structs import replace

from agent.bus import Bus
from agent.confirmation.gate import about_to
from agent.confirmation.question import NAMES, WITHIN, Question, Verdict, body_of, level_of, question_of, verdict_on
from agent.context.epochs import Contexts
from agent.errors import Stopped, ToolFailed
from agent.event import Event, new_id
from agent.mailbox import Mailbox
from agent.model.messages import Message, ToolCall
from agent.record import step
from agent.run.run import Run, Why
from agent.run.system_replies import SystemReplies, phrase
from agent.tools.registry.registry import ToolRegistry
from agent.tools.reply import reply_call
from memory.json_value import Json
from memory.state.journal import Journal

log = structlog.get_logger()

ASKED: Final = "confirmations.asked"
SETTLED: Final = "confirmations.settled"
"""Topics of a question, written when it was over, and of what became of it, written before that is acted upon."""

WAITS: Final = "asked: "
"""How the result of a call begins that waits for a yes: the event is over with it."""

CONFIRMED: Final = "Confirmed"
"""The tag of a block whose event did what a person said yes to."""

COMMAND_LINE: Final = "cli"
"""The source of what is typed, and the session of what is asked by single commands."""

_WAITING: Final = (
    'asked: "{question}" Nothing is done yet. A plain yes of theirs has it done without you; say no more about it now.'
)
_CUT_OFF: Final = 'asked: "{question}" They did not hear all of it, and nothing is done.'
_ONE_AT_A_TIME: Final = "not done: another question is asked first; call this again when that is answered"
_NOBODY: Final = (
    "not done: to {phrase} needs a person's yes, and this event is nobody's words. Tell them with reply what you would "
    "do; it can be done when they ask for it."
)
_STOPPED: Final = "not done: a person spoke before they were asked about it"


class Held(Struct):
    """What the calls of an answer come to that are not simply carried out."""

    refused: dict[str, str] = {}
    """Results by the calls' ids."""
    asked: ToolCall | None = None
    """The one that a person is asked about."""
    phrase: str = ""


class Answered(Struct, frozen=True):
    """What the words of the event in hand are to a question of its session."""

    question: Question
    verdict: Verdict

    def facts(self) -> Mapping[str, str]:
        """Return what the block of the event tells of it."""
        return {
            CONFIRMED if self.verdict == "yes" else "Confirmation": _FACTS[self.verdict].format(
                phrase=self.question.phrase
            )
        }


_FACTS: Final[Mapping[Verdict, str]] = {
    "yes": "They said yes to this: {phrase}. It is done now, see the call.",
    "no": "They said no to this: {phrase}. It was not done.",
    "again": "They are asked once more about this: {phrase}.",
    "doubtful": "It is not sure that they said yes to this: {phrase}. It was not done.",
    "late": "No yes came in time to this: {phrase}. It was not done.",
    "gone": "No yes came in time to this: {phrase}. It was not done.",
    "other": "They did not say yes to this: {phrase}. It was not done, and they were told so.",
    "beside": "A yes is still waited for to this: {phrase}.",
}

_TOLD: Final[Mapping[Verdict, str]] = {
    "no": "not_confirmed",
    "doubtful": "confirmed_doubtful",
    "late": "confirmed_late",
}
"""The sentences that answer words which ask for nothing else."""


class Confirmations(Struct, frozen=True):
    """One question of a session waits at a time, durably; only words of that session and owner answer it."""

    registry: ToolRegistry
    bus: Bus
    contexts: Contexts
    mailbox: Mailbox
    replies: SystemReplies
    journal: Journal
    names: Collection[str] = NAMES
    """What people call it, who say yes."""
    waiting: dict[tuple[str, str], Question] = {}
    """The question that waits since this start, by session and owner; the journal has them over starts."""

    async def hold(self, run: Run, calls: Sequence[ToolCall]) -> Held:
        """Return which of these calls are not carried out now: one is asked about, the others are told why."""
        held = Held()
        for call in calls:
            tool = self.registry.find(call.name)
            if tool is None:
                continue
            try:
                async with run.stop.waits():
                    wanted = await about_to(run, tool, call, self.journal, self.mailbox)
            except ToolFailed as unclear:
                held.refused[call.id] = str(unclear)
                continue
            except Stopped:  # nor will it be begun
                continue
            if not wanted or run.confirmed.get(call.id) == wanted:
                continue
            if not run.event.is_from_person:
                held.refused[call.id] = _NOBODY.format(phrase=wanted)
            elif held.asked is not None:
                held.refused[call.id] = _ONE_AT_A_TIME
            else:
                held.asked, held.phrase = call, wanted
        return held

    async def ask(self, run: Run, held: Held) -> tuple[str, Event | None]:
        """Ask, and wait until that was heard; return the call's result, and the question for the journal.

        To be published with the result, so that neither is without the other. None where nobody was asked.
        """
        if held.asked is None or _is_stopped(run):
            return _STOPPED, None
        first = run.answered.question if run.answered and run.answered.verdict == "again" else None
        name = "confirm_again" if first else "confirm"
        words = phrase(name, held.phrase, phrase=held.phrase)
        heard = await self.replies.ask(run, f"{name}-{held.asked.id}", " ".join([words, *_how(run.event, held.phrase)]))
        if not heard.is_whole and _is_stopped(run, "superseded"):  # they go on with their order
            return _STOPPED, None
        question = Question(
            new_id(),
            held.asked.name,
            held.asked.arguments,
            held.phrase,
            heard.at,
            heard.clock,
            heard.is_whole,
            2 if first else 1,
            first.level_dbfs if first else level_of(run.event),
        )
        asked = step(ASKED, run.event, run.id, body_of(question))
        run.epoch.may_be_asked = True
        self._drop_over()
        self.waiting[_whose(run.event)] = question
        log.info("confirmation_asked", tool=question.tool, heard=question.is_heard, times=question.times)
        told = _WAITING if heard.is_whole else _CUT_OFF
        return told.format(question=words), replace(asked, id=question.id, created_at=question.asked_at)

    async def answered(self, run: Run) -> Answered | None:
        """Return what a person's words are to the question of their session that waits; None where none does."""
        event = run.event
        if not event.is_from_person or run.lease.note or not run.epoch.may_be_asked:
            return None
        newest = await self.journal.entries(
            topic=(ASKED, SETTLED), session_id=event.session_id, owner_key=event.owner_key, newest=True, limit=1
        )
        question = question_of(newest[0]) if newest and newest[0].topic == ASKED else None
        if question is None:
            run.epoch.may_be_asked = False
            return None
        return Answered(question, verdict_on(question, event, self.mailbox.now(), self.names))

    async def settle(self, run: Run) -> Message | None:
        """Write down what the words are to the question, before anything comes of it; return the call to carry out.

        After a yes that is the call that was asked about, once; after any other answer a reply, or nothing where the
        words want an answer of their own. The question, its end and the call are one transaction: a crash finds the
        question waiting, or the call without a result, which is not repeated.
        """
        if run.answered is None or run.answered.verdict == "beside":
            return None
        question, verdict = run.answered.question, run.answered.verdict
        settled = step(SETTLED, run.event, run.id, {"question": question.id, "verdict": verdict})
        log.info("confirmation_settled", tool=question.tool, verdict=verdict)
        run.epoch.may_be_asked = False
        self.waiting.pop(_whose(run.event), None)
        call = self._call_for(run, question, verdict)
        if call is None:
            await self.bus.publish(settled)
            if verdict == "other":
                await self.replies.tell(run.event, "not_confirmed", phrase=question.phrase)
            return None
        run.cycle = new_id()
        message = Message("assistant", tool_calls=(call,))
        await self.bus.publish(settled, self.contexts.envelope(run.epoch, run.event, run.id, message, run.cycle))
        self.contexts.append(run.epoch, message)
        return message

    def describe(self) -> dict[str, Json]:
        """Return which tools' questions wait for a yes, and until when; what they are about to do is not told here."""
        self._drop_over()
        told = self.waiting.values()
        return {"waiting": [{"tool": one.tool, "until": (one.asked_at + WITHIN).isoformat()} for one in told]}

    def _drop_over(self) -> None:
        now = self.mailbox.now()
        for whose, question in [*self.waiting.items()]:
            if now - question.asked_at > WITHIN:
                del self.waiting[whose]

    def _call_for(self, run: Run, question: Question, verdict: Verdict) -> ToolCall | None:
        if verdict in _TOLD:
            return reply_call(phrase(_TOLD[verdict], question.phrase, phrase=question.phrase))
        if verdict not in ("yes", "again"):
            return None
        call = ToolCall(f"call_{new_id()[:24]}", question.tool, question.arguments)
        if verdict == "yes":
            run.confirmed[call.id] = question.phrase
        return call


def _how(event: Event, about: str) -> list[str]:
    """Return how to answer, for whoever is asked on a command line."""
    if event.source != COMMAND_LINE:
        return []
    return [phrase("confirm_by_command" if event.session_id == COMMAND_LINE else "confirm_in_writing", about)]


def _whose(event: Event) -> tuple[str, str]:
    return event.session_id, event.owner_key


def _is_stopped(run: Run, by: Why | None = None) -> bool:
    return run.stop.reason is not None and by in (None, run.stop.reason)
