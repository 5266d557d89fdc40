"""Between replies and the voice: what nobody asked for is kept for a gap, what was asked for waits for a full stop."""

from collections.abc import Awaitable, Callable
from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace

from agent.event import CALENDAR, TIMER, Event, in_room
from agent.replies import Delivered, ForwardedReply, Reply, ReplySink, ReplyStream

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
