"""Routes the words of an answer to whoever hears them, while they are written: those of reply calls, and bare text."""

from msgspec import Struct, field

from agent.event import new_id
from agent.model.dialects.reader import ReplyText
from agent.model.interface import ArgumentsDelta, StreamItem, TextDelta, ToolCallStarted
from agent.model.stream.arguments import PartialString
from agent.replies import Reply, ReplySink, ReplyStream
from agent.run.run import Run
from agent.run.run_state import RunState, Unrepeated
from agent.tools.reply import REPLY


class CalledReply(Struct, frozen=True):
    """The arguments of one reply call, as they come."""

    call_id: str
    unrepeated: Unrepeated
    text: PartialString = field(default_factory=lambda: PartialString("text"))
    room: PartialString = field(default_factory=lambda: PartialString("room"))
    words: ReplyText = field(default_factory=ReplyText)


class Speaking:
    """Routes the words of one answer to deliveries: the text of reply calls, and bare text to a person."""

    def __init__(self, run: Run, run_state: RunState, reply_sink: ReplySink) -> None:
        self._run = run
        self._run_state = run_state
        self._reply_sink = reply_sink
        self._text_id = ""
        self._text: Unrepeated | None = None
        """The stretch of bare text that is open."""
        self._replies: dict[int, CalledReply] = {}
        self._elsewhere: set[str] = set()
        """Ids of reply calls whose words are for another room."""
        self._opened: list[ReplyStream] = []
        self._fed: dict[str, str] = {}
        """What was handed on of this answer, by the call's id: the last sentence of it may still be open."""

    @property
    def has_begun(self) -> bool:
        """Whether words for somebody are being written: other calls are silence to them."""
        return bool(self._replies or self._opened)

    @property
    def is_open(self) -> bool:
        """Whether words for somebody have begun, and are not at their end."""
        return bool(self._text_id) or any(not each.text.is_whole for each in self._replies.values())

    @property
    def written(self) -> int:
        """How many characters were handed on."""
        return sum(map(len, self._fed.values()))

    async def take(self, item: StreamItem) -> None:
        """Pass on the words of one item; waits only when the mouth is many sentences behind."""
        if isinstance(item, TextDelta):
            self._text = self._text or self._run_state.unrepeated(*self._fed.values())
            await self._say_bare(self._text.feed(item.text))
        elif isinstance(item, ToolCallStarted):
            await self.finish()  # it is heard before what the call says, and need not wait for the rest of the answer
            if item.name == REPLY:
                unrepeated = self._run_state.unrepeated(*self._fed.values())
                self._replies[item.index] = CalledReply(item.id, unrepeated)
        elif isinstance(item, ArgumentsDelta) and item.index in self._replies:
            await self._say(self._replies[item.index], item.text)

    async def finish(self) -> None:
        """Say that the bare text is whole; the text of a reply call was, at its closing quote."""
        if self._text is not None:
            await self._say_bare(self._text.finish())
        if self._text_id:
            await self._run_state.deliveries[self._text_id].close()
        self._text, self._text_id = None, ""

    async def break_off(self) -> str:
        """Drop unfinished sentences and return the whole ones that were handed on."""
        for delivery in self._opened:
            await delivery.cut()
        return " ".join(delivery.handed for delivery in self._opened if delivery.handed)

    async def stopped(self) -> str:
        """Drop unfinished sentences, and return the words that stay in the context: those that were handed on.

        Of an event that was superseded only what was heard stays; where nothing was, its replies are forgotten too.
        """
        handed = await self.break_off()
        if self._run.stop.reason != "superseded":
            return handed
        opened = [name for name, delivery in self._run_state.deliveries.items() if delivery in self._opened]
        heard = [(await self._run_state.deliveries[name].ended()).heard for name in opened]
        if not any(heard):
            for name in opened:
                del self._run_state.deliveries[name]
        return " ".join(words for words in heard if words)

    async def _say(self, reply: CalledReply, piece: str) -> None:
        """Pass on what a piece of a reply's arguments adds to its words; the tool says those for another room."""
        words = reply.unrepeated.feed(reply.words.feed(reply.text.feed(piece)))
        is_whole = '"' in piece and reply.text.is_whole
        if is_whole:
            words += reply.unrepeated.feed(reply.words.finish()) + reply.unrepeated.finish()
        delivery = self._run_state.deliveries.get(reply.call_id)
        if delivery is None:
            if reply.room.feed(piece):
                self._elsewhere.add(reply.call_id)
            if not words or reply.call_id in self._elsewhere:
                return
            delivery = self._open(reply.call_id)
        if words:
            await self._feed(reply.call_id, words)
        if is_whole:
            await delivery.close()  # the last sentence need not wait for the rest of the answer, nor for the disk

    async def _say_bare(self, text: str) -> None:
        if not self._run.event.is_from_person or not (self._text_id or text.strip()):
            return
        if not self._text_id:
            self._text_id = f"text-{new_id()}"
            self._open(self._text_id)
        await self._feed(self._text_id, text)

    async def _feed(self, call_id: str, words: str) -> None:
        self._fed[call_id] = self._fed.get(call_id, "") + words
        await self._run_state.deliveries[call_id].feed(words)

    def _open(self, call_id: str) -> ReplyStream:
        delivery = self._reply_sink.open(
            Reply(
                self._run.event,
                call_id,
                self._run_state.already,
                sources=self._run_state.sources,
                stages=self._run.stages,
            )
        )
        self._run_state.deliveries[call_id] = delivery
        self._opened.append(delivery)
        return delivery
