"""In quiet hours, what nobody asked for is not said: it is put into the mailbox for their end."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

import structlog

from agent.event import CALENDAR, SELF_CREATED, TIMER, Event
from agent.mailbox import Mailbox
from agent.replies import Delivered, Reply, ReplySink, ReplyStream
from agent.time.quiet import QuietHours

log = structlog.get_logger()

_KEPT: Final = "In the quiet hours you kept this back. Say it now if it still matters, in one reply: {words}"


@dataclass(frozen=True, slots=True)
class QuietReplySink:
    """Stands before the voice. What people say, timers and calendars are what somebody asked for, and heard."""

    voice: ReplySink
    mailbox: Mailbox
    quiet: QuietHours
    now: Callable[[], datetime]
    """Aware."""

    def open(self, reply: Reply) -> ReplyStream:
        """Return the voice's delivery, or one that keeps the words back."""
        until = self.quiet.until(self.now())
        if until is None or reply.event.is_from_person or reply.event.type in {TIMER, CALENDAR}:
            return self.voice.open(reply)
        return KeptBack(reply, self.mailbox, until, self.now())


@dataclass(slots=True)
class KeptBack:
    """A reply that becomes an event of its own. Its id follows from the reply: after a crash it is not filed twice."""

    reply: Reply
    mailbox: Mailbox
    until: datetime
    now: datetime
    _pieces: list[str] = field(default_factory=list)
    _closed: bool = False

    @property
    def handed(self) -> str:
        """Nothing, until the text is whole: then it is filed as a whole."""
        return "".join(self._pieces).strip() if self._closed else ""

    async def feed(self, text: str) -> None:
        """Collect the text."""
        self._pieces.append(text)

    async def close(self) -> None:
        """File what was collected for the end of the quiet."""
        if self._closed:
            return
        self._closed = True
        event, words = self.reply.event, self.handed
        if not words:
            return
        later = Event(
            type=SELF_CREATED,
            content=_KEPT.format(words=words),
            id=f"{event.id}.{self.reply.call_id}",
            owner_key=event.owner_key,
            session_id=event.session_id,
            parent_id=event.id,
            source="system",
            not_before=self.until,
            created_at=self.now,
        )
        await self.mailbox.enqueue(later)
        log.info("kept_for_after_quiet_hours", event_id=later.id)

    async def cut(self) -> None:
        """Forget what is not whole; it is asked again."""
        if not self._closed:
            self._pieces.clear()

    @property
    def is_written(self) -> bool:
        """Never: it is kept back."""
        return False

    @property
    def is_over(self) -> bool:
        """Always: it is never heard now."""
        return True

    async def ended(self) -> Delivered:
        """Return at once: it is in the mailbox, which is where it goes for now."""
        return Delivered(self.handed, self.handed)
