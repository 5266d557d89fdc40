"""What nobody asked for is kept back and said in a gap; what was asked for waits for the end of somebody's sentence."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import ClassVar, Final

import structlog
from msgspec import Struct
from msgspec.structs import replace

from agent.event import CALENDAR, TIMER, Event, in_room
from agent.replies import Delivered, ForwardedReply, Reply, ReplySink, ReplyStream
from agent.unasked.announcement import Announcement, event_of
from agent.unasked.announcements import Announcements
from agent.unasked.decide import Facts, Rules, decide
from agent.unasked.past import said_today
from appliance.output.company import Company
from appliance.rooms.rooms import RoomReplies
from audio.loops import until_set
from memory.errors import MemoryFailure
from memory.json_value import Json

log = structlog.get_logger()

File = Callable[[Event, str], Awaitable[None]]
"""Keeps the words of a reply to an event, durable on return (`agent.unasked.announcements.Announcements.file`)."""


class UnaskedReplySink(Struct, frozen=True):
    """Stands before the voice. What people say is answered at once; timers and calendars keep their time."""

    voice: ReplySink
    file: File
    sentence_over: Callable[[], Awaitable[None]]
    """Waits for the end of somebody's sentence, not for ever."""

    def open(self, reply: Reply) -> ReplyStream:
        """Return the voice's delivery, or one that keeps the words back."""
        if reply.event.is_from_person:
            return self.voice.open(reply)
        if reply.event.type in {TIMER, CALENDAR}:
            return AfterSentence(self.voice.open(reply), self.sentence_over)
        return KeptBack(replace(reply, event=in_room(reply.event, reply.room)), self.file)


class AfterSentence(ForwardedReply):
    """A delivery that begins when nobody is in the middle of a sentence."""

    sentence_over: Callable[[], Awaitable[None]]
    _is_begun: bool = False

    async def feed(self, text: str) -> None:
        """Hand the text on; the first waits until it is silent."""
        if not self._is_begun:
            await self.sentence_over()
            self._is_begun = True
        await self.stream.feed(text)


class KeptBack(Struct):
    """A reply that becomes an announcement, once its words are whole."""

    reply: Reply
    file: File
    _pieces: list[str] = []
    _closed: bool = False
    is_written: ClassVar = False
    is_sounding: ClassVar = False
    """What becomes of it is told later."""

    @property
    def handed(self) -> str:
        """Nothing, until the text is whole: then it is filed as a whole."""
        return "".join(self._pieces).strip() if self._closed else ""

    @property
    def _unsaid(self) -> str:
        """What of it was not committed to a voice before a crash: that is not said again."""
        words = self.handed
        for sentence in self.reply.already:
            words = words.replace(sentence, "", 1)
        return " ".join(words.split()) if self.reply.already else words

    async def feed(self, text: str) -> None:
        """Collect the text."""
        self._pieces.append(text)

    async def close(self) -> None:
        """File what was collected."""
        if self._closed:
            return
        self._closed = True
        if words := self._unsaid:
            await self.file(self.reply.event, words)

    async def cut(self) -> None:
        """Forget what is not whole; it is asked again."""
        if not self._closed:
            self._pieces.clear()

    async def ended(self) -> Delivered:
        """Return at once: it is in the mailbox, which is where it goes for now."""
        return Delivered(self.handed, self.handed)


RETRY_SECONDS: Final = 5.0
"""Until it looks again at a state that could not be used."""


class Announcer(Struct, eq=False):
    """Says announcements in gaps, several in one breath; each sentence at most once, over restarts too."""

    announcements: Announcements
    voice: RoomReplies
    company: Company
    rules: Callable[[], Rules]
    """Asked at each look."""
    is_engaged: Callable[[], Awaitable[bool]]
    """Whether an answer is due or sounds, or something rings."""
    is_there: Callable[[str], bool]
    """Whether something can be heard in the room of this name."""
    _breath_at: float = float("-inf")
    """When the last breath ended, in seconds on the event loop's clock."""
    _begun: dict[str, tuple[str, ...]] = {}
    """Of each that waits, the sentences that were begun before this start, or before somebody spoke."""

    async def run(self) -> None:
        """Say what there is a gap for, until cancelled."""
        while True:
            try:
                await self._look()
            except MemoryFailure as error:
                log.warning("announcements_unusable", reason=str(error))
                await asyncio.sleep(RETRY_SECONDS)

    def describe(self) -> dict[str, Json]:
        """Return how many wait, what became of others, what is not wanted, for the status."""
        rules = self.rules()
        today = said_today(self.announcements.past, self.announcements.now(), rules.zone)
        return {
            "waiting": len(self._begun),
            "over": self.announcements.describe(),
            "own_today": f"{today} of {rules.per_day}",
            "unwanted": [matter.words for matter in rules.unwanted],
        }

    async def _look(self) -> None:
        self.announcements.changed.clear()
        waiting = await self.announcements.waiting()
        self._begun = {
            each.id: self._begun[each.id] if each.id in self._begun else await self.announcements.begun(each)
            for each in waiting
        }
        is_engaged = bool(waiting) and await self.is_engaged()
        company = self.company
        facts = Facts(
            self.announcements.now(),
            company.silent_for,
            company.is_speaking,
            is_engaged,
            company.rested_for,
            asyncio.get_running_loop().time() - self._breath_at,
            company.heard,
            {each.room for each in waiting if not self.is_there(each.room)},
        )
        decision = decide(waiting, facts, self.announcements.past, self.rules())
        if decision.say:  # nothing is awaited between the facts and the voice
            await self._say(decision.say)
        for each, outcome in decision.drop:
            await self.announcements.close(each, outcome)
        if not decision.say:
            await until_set(self.announcements.changed, decision.look_in)

    async def _say(self, breath: tuple[Announcement, ...]) -> None:
        if breath[0].kind == "urgent" and self.voice.is_replying:
            self.voice.stop_speaking()
        streams: list[tuple[Announcement, ReplyStream]] = []
        for each in breath:
            stream = self.voice.open(Reply(event_of(each), each.id, self._begun.get(each.id, ())))
            streams.append((each, stream))
            await stream.feed(each.words)
            await stream.close()
        log.info("announcements_begun", count=len(breath))
        for each, stream in streams:
            account = await stream.ended()
            self._breath_at = asyncio.get_running_loop().time()
            begun = self._begun[each.id] = await self.announcements.begun(each)
            if account.interrupted and not begun:
                continue  # somebody spoke before its first sample: it waits for the next gap
            await self.announcements.close(each, "said", account.heard if account.interrupted else None)
