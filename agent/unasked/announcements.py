"""The announcements of the household: filed in the mailbox, closed once, and the agent is told what became of each."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Final

import structlog
from msgspec.structs import replace

from agent.bus import Bus
from agent.context.epochs import MESSAGE
from agent.event import HOUSEHOLD, Event
from agent.mailbox import Lease, Mailbox
from agent.mailbox.mail import first_words
from agent.record import step
from agent.replies import SENTENCE_STARTED
from agent.time.quiet import QuietHours
from agent.unasked.announcement import ANNOUNCEMENT, Announcement, announcement_of, event_of, kept_in, kind_of
from agent.unasked.past import ANSWER_WITHIN, REMEMBERED, Fate, Outcome, fate_from, just_said
from memory.json_value import Json
from memory.state.journal import Journal, Stored

log = structlog.get_logger()

OVER: Final = "unasked.over"
"""Topic of what became of an announcement, written before it is closed."""

ANSWERED: Final = "unasked.answered"
"""Topic of words of a person that came soon after one: whether it was ignored is read off this."""

MOST_REMEMBERED: Final = 500
"""Announcements whose fate is looked up in a decision."""

MOST_TOLD: Final = 5
"""Fates that the agent is told of in one block; the newest."""

_TOLD: Final[Mapping[Outcome, str]] = {
    "merged": "left out for a newer one",
    "expired": "not said, no gap came in time",
    "unwanted": "not said, they do not want such things",
    "ignored": "not said, they ignored it twice",
}


class Announcements:
    """What waits is in the mailbox, what became of it in the journal: a kill loses neither, and nothing is said twice.

    On the event loop. An `ArrivalObserver` of the mailbox (`arrived`), a `SituationProvider` (`situation`).
    """

    def __init__(
        self,
        mailbox: Mailbox,
        journal: Journal,
        bus: Bus,
        quiet: QuietHours | None,
        urgent: Collection[str],
        now: Callable[[], datetime],
    ) -> None:
        """In the `quiet` hours time does not count against them; `urgent` are words and entities of what is urgent."""
        self._mailbox = mailbox
        self._journal = journal
        self._bus = bus
        self._quiet = quiet
        self._urgent = urgent
        self.now = now
        """Returns the time, aware."""
        self._past: deque[Fate] = deque(maxlen=MOST_REMEMBERED)
        self._untold: deque[Fate] = deque(maxlen=MOST_TOLD)
        self._waiting: list[Announcement] = []
        self._changes, self._read_at = 0, -1
        """How often what waits may have changed, and of how many of these it was read."""
        self.changed = asyncio.Event()
        """Set whenever what waits may have changed; by the ears too, when somebody was heard."""
        mailbox.observe_changes(self._may_differ, of=ANNOUNCEMENT)

    @property
    def past(self) -> Sequence[Fate]:
        """What became of the newest, the oldest first."""
        return tuple(self._past)

    @property
    def just_said(self) -> tuple[Fate, ...]:
        """What was said so lately that a person's words are about it."""
        return just_said(self._past, self.now())

    async def load(self) -> None:
        """Read what became of those before this start, and close what a kill left open; once, before anything else."""
        entries = await self._journal.entries(topic=(OVER, ANSWERED), newest=True, limit=2 * MOST_REMEMBERED)
        for entry in entries:
            self._read(entry)
        over = {fate.id: fate for fate in self._past}
        for each in await self.waiting():
            if each.id in over:
                await self._mailbox.withdraw(each.id, over[each.id].outcome)
        await self._find_untold(entries)

    async def file(self, event: Event, words: str) -> None:
        """Keep words that the agent wants to say unasked until they are said; the same of an event once."""
        now = self.now()
        parent = await self._mailbox.find(event.parent_id) if event.parent_id else None
        kind = kind_of(event, words, self._urgent, parent.event if parent else None)
        until = self._quiet.until(now) if self._quiet else None
        made = announcement_of(event, words, kind, now, until)
        if await self._mailbox.enqueue(event_of(made)):
            log.info("announcement_filed", event_id=made.id, kind=kind, words=words)

    async def waiting(self) -> list[Announcement]:
        """Return what waits.

        It is asked at each sentence that somebody says, who then waits for an answer: the disk only where it changed.
        """
        if (changes := self._changes) != self._read_at:
            kept = map(kept_in, await self._mailbox.waiting(ANNOUNCEMENT, HOUSEHOLD))
            self._waiting, self._read_at = [each for each in kept if each is not None], changes
        return [*self._waiting]

    async def begun(self, announcement: Announcement) -> tuple[str, ...]:
        """Return the sentences of one that were begun before, in order: they are not said again."""
        entries = await self._journal.entries(topic=SENTENCE_STARTED, event_id=announcement.id)
        return tuple(str(entry.body["words"]) for entry in entries if "words" in entry.body)

    async def close(self, announcement: Announcement, outcome: Outcome, heard: str | None = None) -> None:
        """Write down what became of one, and take it out; `heard` is what was heard of one that was cut off."""
        each = announcement
        at = self.now()
        fate = Fate(each.id, each.words, each.about, each.kind, outcome, at, each.session_id, heard)
        told = step(OVER, event_of(each), "", fate.to_json())
        await self._bus.publish(replace(told, created_at=at))
        self._past.append(fate)
        self._untold.append(fate)
        await self._mailbox.withdraw(each.id, outcome)
        log.info("announcement_over", event_id=each.id, outcome=outcome)

    def arrived(self, event: Event) -> None:
        """Take a person's words for an answer to what was just said."""
        if not event.is_from_person or event.owner_key != HOUSEHOLD:
            return
        if ids := {fate.id for fate in self.just_said if not fate.is_answered}:
            self._bus.hold(step(ANSWERED, event, "", {"announcements": [*ids]}), durable=False)
            self._answer(ids)

    def situation(self, hand: Lease) -> Mapping[str, str]:
        """Tell the agent, once, what became of what it wanted to say since the last block of that session."""
        told = [fate for fate in self._untold if fate.session_id == hand.event.session_id]
        if not told or hand.event.owner_key != HOUSEHOLD:
            return {}
        for fate in told:
            self._untold.remove(fate)
        now = self.now()
        return {"Unasked": "; ".join(_told(fate, now) for fate in told)}

    def _may_differ(self) -> None:
        self._changes += 1
        self.changed.set()

    def _read(self, entry: Stored) -> None:
        ids = entry.body.get("announcements")
        if entry.topic == ANSWERED and isinstance(ids, list):
            self._answer({str(each) for each in ids})
        elif (fate := fate_from(entry.event_id, entry.body, entry.at, entry.session_id)) is not None:
            self._past.append(fate)

    def _answer(self, ids: Collection[str]) -> None:
        for fates in (self._past, self._untold):
            for at, fate in enumerate(fates):
                if fate.id in ids:
                    fates[at] = replace(fate, is_answered=True)

    async def _find_untold(self, entries: Sequence[Stored]) -> None:
        """Find what no block has told yet: what became of them since the newest message of their session."""
        newest: dict[str, int] = {}
        since = {fate.id: fate for fate in self._past if self.now() - fate.at <= REMEMBERED}
        for entry in entries[-MOST_TOLD:]:
            if entry.topic != OVER or entry.event_id not in since:
                continue
            if entry.session_id not in newest:
                last = await self._journal.entries(topic=MESSAGE, session_id=entry.session_id, newest=True, limit=1)
                newest[entry.session_id] = last[0].seq if last else 0
            if entry.seq > newest[entry.session_id]:
                self._untold.append(since[entry.event_id])

    def describe(self) -> dict[str, Json]:
        """Return what became of the newest, for the status; not their words."""
        return {**Counter(fate.outcome for fate in self._past)}


def _told(fate: Fate, now: datetime) -> str:
    words = f'"{first_words(fate.words)}"'
    if fate.outcome != "said":
        return f"{_TOLD[fate.outcome]}: {words}"
    minutes = round((now - fate.at).total_seconds() / 60)
    cut = "" if fate.heard is None else f', cut off after "{first_words(fate.heard)}"'
    ignored = "" if fate.is_answered or now - fate.at <= ANSWER_WITHIN else ", no answer"
    return f"said {minutes} min ago{cut}{ignored}: {words}"
