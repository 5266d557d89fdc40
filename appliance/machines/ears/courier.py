"""The way of what is said to a mind elsewhere: kept, handed over in order, or answered here while no mind is there."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from time import monotonic
from typing import Final

import structlog
from msgspec import Struct, field
from msgspec.structs import replace

from agent.event import Event, from_json, to_json, utc_now
from agent.mailbox import Mailbox, MailboxRecord
from agent.replies import SENTENCE_STARTED
from agent.run.run import UNANSWERED
from agent.run.system_replies import FILLER
from appliance.machines.ears.outbox import Outbox, Owed
from appliance.machines.wire import ANSWERED, RETRY_SECONDS
from audio.loops import until_set
from memory.engine.interface import Inbox
from memory.errors import EngineUnreachable, MemoryFailure
from memory.json_value import Json
from memory.state.journal import Journal

AWAY_AFTER: Final = 5.0
"""Seconds without a word of a mind after which none is there."""


class MindPresence:
    """Follows the words of minds. On the event loop; `run` notices the silence."""

    def __init__(self, clock: Callable[[], float] = monotonic, now: Callable[[], datetime] = utc_now) -> None:
        """`clock` is in seconds, `now` aware."""
        self._clock = clock
        self._now = now
        self._seen_at = float("-inf")
        self._heard = asyncio.Event()
        self._observers: list[Callable[[], object]] = []
        self._since = clock()
        """When it began to listen: until `AWAY_AFTER` later nobody knows whether a mind is there."""
        self._was: tuple[bool, bool] = (False, False)
        self._changed_at = now()
        self.name = ""
        """Of the machine that was heard last."""

    def observe(self, observer: Callable[[], object]) -> None:
        """Call an observer whenever a mind comes or goes; for good."""
        self._observers.append(observer)

    @property
    def is_there(self) -> bool:
        """Whether a mind was heard in the last `AWAY_AFTER` seconds."""
        return self._clock() - self._seen_at <= AWAY_AFTER

    @property
    def is_missed(self) -> bool:
        """Whether none is there, and one that is would have been heard by now."""
        return self._clock() - max(self._since, self._seen_at) > AWAY_AFTER

    def heard(self, name: str) -> None:
        """Take that the mind of this machine lives."""
        self._seen_at, self.name = self._clock(), name
        self._heard.set()
        self._look()

    def left(self) -> None:
        """Take that the mind said that it goes."""
        self._seen_at = self._since = float("-inf")
        self._look()

    async def run(self) -> None:
        """Notice that nothing is heard any more, until cancelled."""
        while True:
            self._heard.clear()
            left = max(self._since, self._seen_at) + AWAY_AFTER - self._clock()
            await until_set(self._heard, None if self.is_missed else max(0.0, left) + 0.01)
            self._look()

    def describe(self) -> dict[str, Json]:
        """Return whether one is there, which, and since when, for the status."""
        since = self._changed_at.isoformat(timespec="seconds")
        return {"mind": "there" if self.is_there else "away", "mind_name": self.name, "mind_since": since}

    def _look(self) -> None:
        now = self.is_there, self.is_missed
        if now == self._was:
            return
        self._was, self._changed_at = now, self._now()
        log.info("mind_came" if self.is_there else "mind_away", machine=self.name)
        for observer in self._observers:
            observer()


log = structlog.get_logger()

TURN: Final = "turn"
"""Kind of what is owed that is an event."""

BACK: Final = "the mind is back"
"""Why an event is withdrawn that the ears' own agent did not answer."""

FORGOTTEN: Final = "forgotten"
"""Why an event is withdrawn that nobody is to be told of any more."""

OFFERED_WITHIN: Final = timedelta(minutes=1)
"""Age of words that the ears' own agent is still offered; older ones only wait."""


class Courier(Struct):
    """Takes what a mailbox would, and hands it to the mind; each exactly once in what comes of it.

    Order: as filed, answered here or not. Loss: none that `enqueue` returned for. The engine knows ids, so that a
    second try of the same does nothing. What the engine may have is never offered to the agent here, and what that was
    offered is handed over only once it is through with it: so nothing is answered, or done, twice.
    """

    outbox: Outbox
    mailbox: Mailbox
    """Of the ears' own agent."""
    journal: Journal
    inbox: Inbox
    mind: MindPresence
    encode: Callable[[Owed], bytes]
    """Returns what is owed as a message."""
    handed_over: Callable[[Event], None]
    """Is told of words that the mind has to answer: it has them, or will as soon as it is there."""
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _offered: set[str] = set()
    """Ids that the agent here was offered since the start."""
    _told: set[str] = set()
    """Ids of those that the engine may have, about which whoever spoke was told that the mind is away."""
    waiting: int = 0
    """How many wait, as it was at the last look."""

    def __post_init__(self) -> None:
        self.mailbox.observe_changes(self._changed.set)
        self.mind.observe(self._changed.set)

    async def enqueue(self, event: Event) -> bool:
        """Keep an event for the mind; False when its id waits already. Raises `StateUnusable`."""
        return await self.owe(event.id, TURN, to_json(event))

    async def owe(self, id_: str, kind: str, body: str) -> bool:
        """Keep anything for the mind, behind what waits. Raises `StateUnusable`."""
        added = await self.outbox.add(id_, kind, body)
        self.waiting += added
        self._changed.set()
        return added

    async def drop_newest(self) -> bool:
        """Forget the newest words, where surely nobody else has them; False where the mind may. Raises `StateUnusable`.

        Those that the agent here was offered go when that has forgotten them.
        """
        said = [owed for owed in await self.outbox.waiting() if owed.kind == TURN]
        said = [owed for owed in said if from_json(owed.body).is_from_person]
        if not said:
            return False
        if said[-1].state != "here":
            await self.outbox.remove(said[-1].id)
        self._changed.set()
        return said[-1].state != "tried"

    def wake(self) -> None:
        """Look again at what waits."""
        self._changed.set()

    async def run(self) -> None:
        """Hand over what waits, or offer it here, until cancelled."""
        while True:
            self._changed.clear()
            again: float | None = None
            try:
                await self._settle()
            except MemoryFailure as error:
                log.warning("not_handed_over", waiting=self.waiting, reason=str(error))
                again = RETRY_SECONDS
            await until_set(self._changed, again)

    async def _settle(self) -> None:
        while self.mind.is_there and (owed := await self.outbox.oldest()):
            if not await self._hand_over(owed):
                break
        waiting = await self.outbox.waiting()
        self.waiting = len(waiting)
        if self.mind.is_missed:
            for owed in waiting:
                await self._offer(owed)

    async def _hand_over(self, owed: Owed) -> bool:
        """Give the engine what is next; False while the agent here is not through with it."""
        message: Owed | None = owed
        if owed.kind == TURN and owed.state == "here":
            if (message := await self._settled(owed)) is None:
                return False
        elif owed.state == "kept":
            await self.outbox.move(owed.id, "tried", durable=False)
        if message is not None and message.body:
            try:
                await self.inbox.put(self.encode(message), id=owed.id)
            except EngineUnreachable:
                if owed.state == "kept":  # nothing of it was kept there: it may be answered here
                    await self.outbox.move(owed.id, "kept")
                raise
        await self.outbox.remove(owed.id)
        self._offered.discard(owed.id)
        self._told.discard(owed.id)
        log.info("handed_over", event_id=owed.id, kind=owed.kind)
        if message is not None and message.body and owed.kind == TURN:
            event = from_json(message.body)
            if event.is_from_person and ANSWERED not in event.metadata and owed.state != "tried":
                self.handed_over(event)
        return True

    async def _offer(self, owed: Owed) -> None:
        """Let the agent here have words that nobody else has; the others keep waiting."""
        if owed.kind != TURN or owed.id in self._offered:
            return
        event = from_json(owed.body)
        if not event.is_from_person or self.mailbox.now() - event.created_at > OFFERED_WITHIN:
            return
        if owed.state == "tried":
            if owed.id not in self._told:
                self._told.add(owed.id)
                self.handed_over(event)
            return
        if owed.state == "kept":
            await self.outbox.move(owed.id, "here")
        self._offered.add(owed.id)
        await self.mailbox.enqueue(event)
        log.info("offered_here", event_id=owed.id)

    async def _settled(self, owed: Owed) -> Owed | None:
        """Return what came of an event here, with what was said to it; None while the agent here has it in hand.

        One without a body is to be forgotten.
        """
        filed = await self.mailbox.find(owed.id)
        if filed is None:
            return owed
        is_open = filed.state in {"pending", "suspended"}
        if filed.state == "in_hand" or (is_open and not await self.mailbox.withdraw(owed.id, BACK)):
            return None
        if filed.state == "withdrawn" and filed.reason == FORGOTTEN:
            return replace(owed, body="")
        said = await self._said(filed)
        if _is_unanswered(filed, said):
            return owed
        event = filed.event
        answered = replace(event, metadata={**event.metadata, ANSWERED: said or filed.summary or filed.reason})
        return replace(owed, body=to_json(answered))

    async def _said(self, filed: MailboxRecord) -> str:
        """Return the sentences by which an event was answered here; a sign that it goes on is none."""
        begun = await self.journal.entries(topic=SENTENCE_STARTED, event_id=filed.event.id)
        signs = (FILLER, "no_model", "no_answer")
        told = [each for each in begun if not str(each.body.get("call_id", "")).startswith(signs)]
        return " ".join(str(each.body["words"]) for each in told if "words" in each.body)


def _is_unanswered(filed: MailboxRecord, said: str) -> bool:
    """Whether the mind is still to answer what the agent here had; `said` are the sentences of an answer."""
    if filed.state == "suspended":
        return not said or filed.progress.note.startswith(UNANSWERED)
    return filed.state in {"pending", "dead"} or filed.is_superseded or filed.reason == BACK
