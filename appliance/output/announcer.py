"""Says what waits to be said unasked, when there is a gap for it: the loop around `agent.unasked.decide`."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import structlog
from msgspec import Struct

from agent.replies import Reply, ReplyStream
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
    _waiting: int = 0
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
            "waiting": self._waiting,
            "over": self.announcements.describe(),
            "own_today": f"{today} of {rules.per_day}",
            "unwanted": [matter.words for matter in rules.unwanted],
        }

    async def _look(self) -> None:
        self.announcements.changed.clear()
        waiting = await self.announcements.waiting()
        self._waiting = len(waiting)
        await self._find_begun(waiting)
        is_engaged = bool(waiting) and await self.is_engaged()
        decision = decide(waiting, self._facts(waiting, is_engaged=is_engaged), self.announcements.past, self.rules())
        if decision.say:  # nothing is awaited between the facts and the voice
            await self._say(decision.say)
        for each, outcome in decision.drop:
            await self.announcements.close(each, outcome)
        if not decision.say:
            await until_set(self.announcements.changed, decision.look_in)

    async def _find_begun(self, waiting: list[Announcement]) -> None:
        self._begun = {
            each.id: self._begun[each.id] if each.id in self._begun else await self.announcements.begun(each)
            for each in waiting
        }

    def _facts(self, waiting: Sequence[Announcement], *, is_engaged: bool) -> Facts:
        company = self.company
        return Facts(
            self.announcements.now(),
            company.silent_for,
            company.is_speaking,
            is_engaged,
            company.rested_for,
            asyncio.get_running_loop().time() - self._breath_at,
            company.heard,
            {each.room for each in waiting if not self.is_there(each.room)},
        )

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
