"""The occasions of growth: once nobody speaks, a look back on a conversation; in quiet hours, a night."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Final, Protocol

import structlog
from msgspec import Struct, field

from agent.errors import TooManyEvents
from agent.event import HOUSEHOLD, NIGHT, REFLECTION, Event
from agent.growth import cursor
from agent.growth.cursor import News
from agent.mailbox import Mailbox, Wait
from agent.mailbox.economy import SELF
from agent.mailbox.mail import PURSE, QUIET, Purse
from agent.time.quiet import QuietHours
from memory.errors import MemoryFailure
from memory.json_value import Json
from memory.state.database import Database

log = structlog.get_logger()

SILENCE: Final = timedelta(seconds=120)
"""Without words for so long a conversation is over."""

LONGEST_WAIT: Final = timedelta(hours=1)
"""Of a look, while somebody says something again and again: in another session a conversation may be over."""

AGAIN: Final = timedelta(minutes=10)
"""When it is looked again while something is in the way that tells nobody of its end."""

PRIORITIES: Final[Mapping[str, int]] = {REFLECTION: -5, NIGHT: -8}
"""Behind everything that a person or a timer brings, and what it made itself; a night behind the looks back, as what
they write is looked over too."""

REFLECTION_TEXT: Final = """\
A conversation is over, and nobody speaks. new_since_reflection lists what was said since you last
looked back ({events}), by whom, when, and what you answered. Nobody hears you now.

Write into your memory what you want to keep, where and how you choose; look first at what is there. For instance: what
you learnt, from whom and when; a short dated note of what was talked about and who said what, in words by which it is
found again; what has changed, beside what held before; what you promised and is open. Dates are dates, never "today".
In memory_write give $event, $said_at and $speaker in params, of the words that you mean, so that each thing cites
them. Or write nothing, where nothing is worth it. Then complete_event."""

NIGHT_TEXT: Final = """\
It is night, and nobody hears you. Look over your memory. night_evidence(kind) lists what was found in
it and in the journal, by ids: {counts}. It is evidence, and no order: you decide whether to merge, link, correct,
forget or leave a thing. Nodes are found by WHERE elementId(n) = $id. What holds again and again, write down as a
pattern; what went wrong, as a lesson that you will look for when it matters: each with what it rests on ($event and
$said_at of its sources in params), and its date. Then complete_event; a line of what you did is its summary."""

AFTER_WORDS: Final = timedelta(minutes=30)
"""How long a night waits for a look back on words that have had none, as where none is wanted."""

LATER: Final = timedelta(hours=1)
"""When it is looked again in a night that found nothing: somebody may still write."""

OVER: Final = "the night was over; the next one has what it left"


class Occasion(Protocol):
    """Something that is worth an event of the agent's own at times."""

    async def look(self) -> datetime | None:
        """File what is due, and return when to look again; None is after the next words. Raises `MemoryFailure`."""


class Occasions(Struct):
    """Looks at each occasion when it may have come; between two looks there is one timer, or none.

    Nothing is looked up within `SILENCE` of a person's words. What was filed is in the mailbox: a kill loses nothing,
    and what there is to be found is in the journal, so that a start finds it again.
    """

    mailbox: Mailbox
    database: Database
    occasions: Sequence[Occasion]
    is_busy: Callable[[], bool]
    """Whether somebody speaks, or did so just now; or something sounds."""
    wait: Wait
    _spoken: asyncio.Event = field(default_factory=asyncio.Event)
    _spoken_at: datetime | None = None

    def arrived(self, event: Event) -> None:
        """Take note of words, as an `ArrivalObserver`."""
        if event.is_from_person:
            self._spoken_at = self.mailbox.now()
            self._spoken.set()

    async def run(self) -> None:
        """Look, and file what is due, until cancelled."""
        is_begun = False
        while True:
            await self._silence()
            try:
                if not is_begun:
                    await self.database.write(cursor.begin)
                    is_begun = True
                again = await self.look()
            except MemoryFailure as error:
                log.warning("growth_could_not_look", reason=str(error))
                again = self.mailbox.now() + AGAIN
            self._spoken.clear()
            if self._spoken_at is None:
                await self.wait(self._spoken, again)

    async def look(self) -> datetime | None:
        """Look once; return when to look again, None for after the next words. Raises `MemoryFailure`."""
        if self.is_busy():
            return self.mailbox.now() + SILENCE
        with self.mailbox.filing():
            if await self.mailbox.waits_for(QUIET):
                await self.mailbox.wake(QUIET)
            found = [moment for each in self.occasions if (moment := await each.look()) is not None]
        return min(found, default=None)

    async def _silence(self) -> None:
        """Return once nobody has said anything for long enough, or some do so all the time."""
        last = self.mailbox.now() + LONGEST_WAIT
        while self._spoken_at is not None:
            until = min(last, self._spoken_at + SILENCE)
            if self.mailbox.now() >= until:
                self._spoken_at = None
                return
            self._spoken.clear()
            await self.wait(self._spoken, until)


class Reflections(Struct, frozen=True):
    """Files one event for all that an owner's conversations that are over have brought, never two at a time.

    Its id is made of what is new: whoever files it again, after a kill, files it once. One that was given up comes
    back with the next words.
    """

    mailbox: Mailbox
    database: Database
    may_reflect: Callable[[str], bool]
    """Whether an owner's events have a memory to write into."""
    has_model: Callable[[], bool]
    """Whether there is one that thinks, within reach or not."""

    async def look(self) -> datetime | None:
        """File what is due; see `Occasion.look`."""
        now = self.mailbox.now()
        found, newest = await self.database.read(lambda c: cursor.news(c, now))
        wanted = [each for each in found if self.may_reflect(each.owner_key)]
        floor = min((each.first - 1 for each in wanted), default=newest)
        await self.database.write(lambda c: cursor.raise_floor(c, floor), durable=False)
        owners = dict.fromkeys(each.owner_key for each in wanted)
        again = [await self._look_at(owner, [one for one in wanted if one.owner_key == owner]) for owner in owners]
        return min((moment for moment in again if moment is not None), default=None)

    async def _look_at(self, owner_key: str, news: Sequence[News]) -> datetime | None:
        now = self.mailbox.now()
        if not self.has_model() or await _is_reflecting(self.mailbox, owner_key):
            return now + AGAIN
        over = [each for each in news if not each.is_under_way and each.quiet_since + SILENCE <= now]
        if not over:
            return min(now + SILENCE if each.is_under_way else each.quiet_since + SILENCE for each in news)
        since = await self.database.read(lambda c: cursor.since(c, owner_key, REFLECTION))
        through = max(each.last for each in news)
        times = sum(each.events for each in news)
        told = REFLECTION_TEXT.format(events=f"{times} time{'' if times == 1 else 's'} that somebody spoke")
        name = f"reflection-{blake2b(owner_key.encode(errors='replace'), digest_size=6).hexdigest()}-{since}-{through}"
        is_new = await _filed(self.mailbox, REFLECTION, name, told, {"through": through}, owner_key)
        return None if is_new is False else now + AGAIN


class Nights(Struct, frozen=True):
    """Files one event a night, the household's, where anything was said since the last that was completed.

    Before it there is a snapshot of the graph, unless nothing was written since the last. A night that no model saw is
    withdrawn in the morning: what it would have been given is given to the next.
    """

    mailbox: Mailbox
    database: Database
    hours: QuietHours
    purse: Purse
    has_model: Callable[[], bool]
    evidence: Callable[[int], Awaitable[Mapping[str, int]]]
    """How much of each kind there is, behind a place in the journal. Raises `MemoryFailure`."""
    save: Callable[[str], Awaitable[None]]
    """Takes a snapshot, for a reason, where the newest does not hold all. Raises `MemoryFailure`."""

    async def look(self) -> datetime | None:
        """File what is due; see `Occasion.look`."""
        now = self.mailbox.now()
        end = self.hours.until(now)
        if end is None:
            for left in await self.mailbox.waiting(NIGHT, HOUSEHOLD):
                await self.mailbox.withdraw(left.id, OVER)
            return self.hours.next(now)
        name = f"night-{end.astimezone(self.hours.zone):%Y-%m-%d}"
        if self.purse.is_empty or await self.mailbox.find(name) is not None:
            return end
        if not self.has_model() or await self._is_looked_back():
            return min(end, now + AGAIN)
        since, newest = await self.database.read(lambda c: (cursor.since(c, HOUSEHOLD, NIGHT), cursor.last_words(c)))
        if newest <= since:
            return end
        counts = {kind: count for kind, count in (await self.evidence(since)).items() if count}
        if not counts:
            return min(end, now + LATER)
        await self.save(f"before the {name.replace('-', ' of ', 1)}")
        told = NIGHT_TEXT.format(counts=", ".join(f"{kind} {count}" for kind, count in counts.items()))
        purse: Json = {"tokens": self.purse.tokens, "usd": self.purse.usd}
        await _filed(self.mailbox, NIGHT, name, told, {"through": newest, PURSE: purse})
        return end

    async def _is_looked_back(self) -> bool:
        """Whether a look back is to come, waits or is in hand: what it writes is looked over too."""
        now = self.mailbox.now()
        news, _ = await self.database.read(lambda c: cursor.news(c, now))
        is_new = any(each.owner_key == HOUSEHOLD and each.quiet_since + AFTER_WORDS > now for each in news)
        return is_new or await _is_reflecting(self.mailbox)


async def _is_reflecting(mailbox: Mailbox, owner_key: str | None = None) -> bool:
    """Whether a look back, of one owner or of any, waits or is in hand."""
    hand = await mailbox.in_hand()
    in_hand = hand is not None and hand.event.type == REFLECTION and owner_key in (None, hand.event.owner_key)
    return in_hand or bool(await mailbox.waiting(REFLECTION, owner_key))


async def _filed(
    mailbox: Mailbox, kind: str, name: str, told: str, metadata: Mapping[str, Json], owner_key: str = HOUSEHOLD
) -> bool | None:
    """File an event of growth; False when its id is known, None where the agent has made too many of late."""
    event = Event(
        type=kind,
        content=told,
        id=name,
        owner_key=owner_key,
        session_id=name,
        source=SELF,
        priority=PRIORITIES[kind],
        metadata=metadata,
        created_at=mailbox.now(),
    )
    try:
        return await mailbox.enqueue(event)
    except TooManyEvents as error:
        log.info("growth_put_off", kind=kind, reason=str(error))
        return None
