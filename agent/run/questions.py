"""Questions that no model could answer: they wait, are woken when a model is back, or dropped by who asked."""

import asyncio
import re
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final

import structlog
from msgspec import Struct, field
from msgspec.structs import replace

from agent.errors import ModelError, ModelUnavailable
from agent.event import ASR_TRANSCRIPT, MODEL_AVAILABLE, Event
from agent.mailbox import Lease, Mailbox, MailboxRecord, Wake
from agent.model.chain import Chain
from agent.model.interface import OFFLINE
from agent.run.budget import JITTER
from agent.run.run import UNANSWERED, Run
from agent.run.run_state import GivenUp, Suspension
from agent.run.system_replies import SystemReplies
from agent.time.quiet import QuietHours
from memory.backoff import Backoff
from memory.clock import within
from memory.errors import MemoryFailure

log = structlog.get_logger()

STALE: Final = f"{UNANSWERED} It is old: do not answer it now, but say that it is still open, and ask if it is wanted."

HUSHED: Final = f"{UNANSWERED} It is a quiet time: be brief."

FIRST_LOOK: Final = 5.0

LONGEST_LOOK: Final = 60.0
"""Seconds between two looks whether a model is back, while something waits for one; each doubles the next."""

LEAST_WAIT: Final = timedelta(minutes=1)
"""When a question comes back by time, if nothing says before that a model is back; later after its own age."""

MOST_TRIES: Final = 4
"""Times that a question is taken up which models answer, but never to the end; then it is given up, in words."""

LONGEST_PAUSE: Final = timedelta(minutes=15)
"""The most that a question stays away which failed again and again though a model was there; `LEAST_WAIT`, doubled."""

ALOUD_WITHIN: Final = timedelta(hours=1)
"""A spoken question older than that is not answered by itself: the room has moved on.

It comes after the next words of a person, and is asked about instead. In quiet hours none is answered by itself.
"""

GIVEN_UP_AFTER: Final = timedelta(hours=24)
"""A question that is older when models fail it again goes to the dead letter; `nakari mailbox retry` asks once more."""

MOST_WAITING: Final = 50
"""Newest suspended events of an owner that are looked through."""

_DROP: Final = re.compile(
    r"(?:oh |ok |okay |no |well )?(?:"
    r"never ?mind(?: (?:that|it|the questions?|my questions?))?|"
    r"(?:please )?(?:forget|drop|cancel|skip) (?:it|about it|(?:about )?(?:the|that|my|those|these|all my) questions?)|"
    r"(?:you )?(?:do not|don t|need not) (?:have to |need to )?(?:answer|bother)(?: (?:that|it|me))?(?: any ?more)?|"
    r"算了(?:吧|不用了)?|(?:不用|别|不要)(?:再)?(?:回答|答|管)(?:了|我了|它了|那个问题了)?|不用了|没事了?|"
    r"(?:忘了|忘掉|取消|别管)(?:那个|这个|我的|刚才的)?问题(?:吧|了)?"
    r")(?: please| thanks| thank you)?"
)


def drops_questions(words: str) -> bool:
    """Say whether somebody wants no answer any more to what was asked, in English or Chinese."""
    plain = re.sub(r"[^\w]+", " ", words.lower().replace("nakari", "")).strip()
    return _DROP.fullmatch(plain) is not None or _DROP.fullmatch(plain.replace(" ", "")) is not None


class Failed(Struct, frozen=True):
    """What came of a question so far that models failed."""

    tries: int = 0
    """Failures for which the question may be the cause, since a model was there."""
    unfinished: int = 0
    """Those of them in which it was answered, but not to the end."""
    until: datetime | None = None
    """Until when it stays away, whatever wakes it; aware."""
    reason: str = ""
    """Why it failed the last time, for people."""


class Questions(Struct, frozen=True):
    """Decides when what no model answered comes back, and in which form.

    A question that fails again, though a model is there, stays away ever longer, whatever others are answered
    meanwhile; one that is never answered to the end is given up. How often it failed is forgotten at a restart.
    """

    mailbox: Mailbox
    replies: SystemReplies
    now: Callable[[], datetime]
    quiet: QuietHours | None
    """When none is answered aloud by itself."""
    _failed: OrderedDict[str, Failed] = field(default_factory=OrderedDict)
    """By the event's id; of as many as are looked through."""

    async def wait(self, run: Run, error: ModelError) -> Suspension | GivenUp:
        """Return how an event waits that no model could answer; its person is told, once."""
        event, age = run.event, self.now() - run.event.created_at
        failed = self._note(run, error)
        at = failed.until or self.now() + max(LEAST_WAIT, age)
        wake = Wake("event", at=at, name=MODEL_AVAILABLE)
        if not event.is_from_person:
            return Suspension(run.lease.note or f"Waits for a model: {error}", wake)
        if run.waited_for_model and age > GIVEN_UP_AFTER:
            return GivenUp(f"no model answered within {GIVEN_UP_AFTER.total_seconds() / 3600:.0f} hours: {error}")
        if failed.unfinished >= MOST_TRIES:
            await self.replies.say(run, "gave_up")
            return GivenUp(f"it was asked {MOST_TRIES} times: {error}")
        if not run.waited_for_model:
            is_known = not error.is_of_answer and await self._waiting(event)
            await self.replies.say(run, "no_model_either" if is_known else error.excuse)
        return Suspension(_noted(UNANSWERED, run.lease.note), wake, reason=str(error))

    def _note(self, run: Run, error: ModelError) -> Failed:
        """Take note of a failure, and return what came of the question so far."""
        before = self._failed.pop(run.event.id, Failed())
        is_its_own = error.is_of_answer or (run.waited_for_model and isinstance(error, ModelUnavailable))
        if not is_its_own or error.is_absent:
            return self._remember(run.event.id, replace(before, until=None)) if before.tries else before
        doublings = min(before.tries, 9)  # of any more the pause would be no time that there is
        pause = min(LEAST_WAIT * 2**doublings, LONGEST_PAUSE)
        failed = Failed(before.tries + 1, before.unfinished + error.is_of_answer, self.now() + pause, str(error))
        return self._remember(run.event.id, failed)

    def _remember(self, event_id: str, failed: Failed) -> Failed:
        self._failed[event_id] = failed
        while len(self._failed) > MOST_WAITING:
            self._failed.popitem(last=False)
        return failed

    def put_off(self, lease: Lease) -> Suspension | None:
        """Return until when a question that comes back stays away; None where it may be taken up.

        What is written disturbs nobody, and is answered whenever a model is back.
        """
        if not lease.note.startswith(UNANSWERED):
            return None
        failed = self._failed.get(lease.event.id, Failed())
        if (until := failed.until) is not None and self.now() < until:
            return Suspension(lease.note, Wake("event", at=until, name=MODEL_AVAILABLE), reason=failed.reason)
        return self._put_off_aloud(lease)

    def _put_off_aloud(self, lease: Lease) -> Suspension | None:
        event, note = lease.event, lease.note
        if event.type != ASR_TRANSCRIPT and not event.metadata.get("speak"):
            return None
        end = None if self.quiet is None else self.quiet.until(self.now())
        if note.startswith(STALE):
            return Suspension(note, Wake("event", name=ASR_TRANSCRIPT)) if end else None
        if end is not None:  # who speaks is awake, and may hear it
            spoken = Wake("event", at=end, name=ASR_TRANSCRIPT)
            return None if note.startswith(HUSHED) else Suspension(_noted(HUSHED, note), spoken)
        if self.now() - event.created_at > ALOUD_WITHIN:
            return Suspension(_noted(STALE, note), Wake("event", name=ASR_TRANSCRIPT))
        return None

    async def drop_if_asked(self, event: Event) -> int:
        """Withdraw what waits for a model in a session, if the person wants no answer any more; return how many."""
        if not event.is_from_person or not drops_questions(event.content):
            return 0
        waiting = [each.event.id for each in await self._waiting(event) if each.event.session_id == event.session_id]
        dropped = [name for name in waiting if await self.mailbox.withdraw(name, "its person wants no answer any more")]
        log.info("questions_dropped", count=len(dropped))
        return len(dropped)

    async def _waiting(self, event: Event) -> list[MailboxRecord]:
        """Return the other questions of an owner that wait for a model."""
        filed = await self.mailbox.listed("suspended", MOST_WAITING, event.owner_key)
        return [
            each
            for each in filed
            if each.event.is_from_person and each.event.id != event.id and each.progress.note.startswith(UNANSWERED)
        ]


def _noted(head: str, note: str) -> str:
    """Return a note with this beginning, and what stood in it otherwise."""
    rest = note
    for other in (STALE, HUSHED, UNANSWERED):
        rest = rest.removeprefix(other).strip()
    return f"{head} {rest}".strip()


class Outage(Struct):
    """Whether no model answered when one was last asked; also before the first is asked."""

    is_on: bool = True
    was_seen: bool = False
    """Whether it was found out by asking."""
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def began(self) -> None:
        """Take note that no model answers."""
        self.was_seen = True
        if not self.is_on:
            self.is_on = True
            self._changed.set()

    def ended(self) -> bool:
        """Take note that one answered; False when none was away."""
        was_on, self.is_on, self.was_seen = self.is_on, False, False
        if was_on:
            self._changed.set()
        return was_on

    async def changed(self, seconds: float | None) -> None:
        """Return when it begins or ends, at the latest after so many seconds (None: never)."""
        await within(seconds, self._changed)
        self._changed.clear()


class ModelWatch(Struct):
    """Wakes what waits for a model as soon as one can be reached, whether or not anybody speaks.

    It only looks whether a server is there, which is not billed, and only while something waits. One event is woken, to
    ask; the others are, once that is answered. Until then the looks become rarer.
    """

    models: Chain
    mailbox: Mailbox
    outage: Outage
    _looks: Backoff = field(default_factory=lambda: Backoff(FIRST_LOOK, LONGEST_LOOK, jitter=JITTER))

    async def run(self) -> None:
        """Look again and again while models are away, until cancelled."""
        while True:
            if not self.outage.is_on:
                await self.outage.changed(None)
                self._looks.worked()
            await self.outage.changed(self._looks.failed())
            if self.outage.is_on:
                with suppress(MemoryFailure):  # the loop tells of that; the next look comes
                    await self._look()

    async def _look(self) -> None:
        if not await self.mailbox.waits_for(MODEL_AVAILABLE):
            return
        for model in self.models.may_think:
            if model.name != OFFLINE and await model.is_reachable():
                await self.mailbox.wake(MODEL_AVAILABLE, most=1)
                log.info("model_can_be_reached", model=model.name)
                return
