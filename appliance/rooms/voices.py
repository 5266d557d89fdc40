"""Replies by room: each where its event came from, or where it is wanted; what nobody there can hear is kept for it."""

from collections.abc import Callable, Sequence
from typing import ClassVar, Final

from msgspec import Struct, field

from agent.errors import ToolFailed
from agent.event import TIMER, Event, room_of
from agent.replies import AWAY, Delivered, ForwardedReply, Reply, ReplyStream
from appliance.output.unasked import File, KeptBack
from appliance.rooms.rooms import Room, Rooms, same_name

EVERYWHERE: Final = frozenset({"everywhere", "all rooms", "到处", "所有房间", "每个房间", "全家"})
"""Names that mean each room."""


class RoomVoices(Struct, frozen=True):
    """A `ReplySink`, the voice of all rooms: what a person said is answered in that room, or, where it is away, later.

    What belongs to no room sounds where somebody was understood last, a timer that was set in no room at the box.
    """

    rooms: Rooms
    file: File
    """Keeps an answer for a room that is away."""
    heard_last: Callable[[], str]
    """Names the room of the newest words, "" none."""

    def open(self, reply: Reply) -> ReplyStream:
        """Return the delivery of one reply. Raises `ToolFailed` where it is wanted in a room that is not there."""
        event = reply.event
        if (wanted := reply.room or room_of(event)) and same_name(wanted) in EVERYWHERE:
            return Together([room.replies.open(reply) for room in self.rooms.there])
        if reply.room:
            return self._named(reply.room).replies.open(reply)
        room = self.rooms.of(event)
        if event.is_from_person:
            if room is None or not room.is_there():
                return self._kept(reply)
            stream = room.replies.open(reply)
            return stream if room is self.rooms.own else Answer(stream, reply, room.is_there, self.file)
        if room is None or not (room_of(event) or event.type == TIMER):
            room = self.rooms.named(self.heard_last())
        room = room if room is not None and room.is_there() else self.rooms.any
        return room.replies.open(reply) if room.is_there() else self._kept(reply)

    @property
    def is_replying(self) -> bool:
        """Whether a reply is under way anywhere."""
        return any(room.replies.is_replying for room in self.rooms)

    def stop_speaking(self) -> str:
        """Silence the replies that are under way; return the id of one's event, "" when there was none."""
        answering = [room.replies for room in self.rooms if room.replies.is_replying]
        return next(iter([replies.stop_speaking() for replies in answering]), "")

    def _kept(self, reply: Reply) -> ReplyStream:
        return KeptBack(reply, _forgotten if reply.is_sign else self.file)

    def _named(self, name: str) -> Room:
        if (room := self.rooms.named(name)) is None:
            reason = f"room {name!r} {AWAY}" if self.rooms.is_away(name) else f"there is no room {name!r}"
            raise ToolFailed(f"{reason}; there are: {', '.join(self.rooms.names)}")
        return room


class Answer(ForwardedReply):
    """A delivery in a room that may go away; what nobody heard anything of by then is filed for when it is back."""

    reply: Reply
    is_there: Callable[[], bool]
    file: File
    _pieces: list[str] = field(default_factory=list)

    async def feed(self, text: str) -> None:
        """Hand the text on."""
        self._pieces.append(text)
        await self.stream.feed(text)

    async def ended(self) -> Delivered:
        """Wait until it was heard; where the room went away before a word of it was, it is kept as a whole."""
        delivered, words = await self.stream.ended(), "".join(self._pieces).strip()
        is_lost = words and not delivered.heard and not self.reply.already and not self.is_there()
        if not is_lost or self.reply.is_sign:
            return delivered
        await self.file(self.reply.event, words)
        return Delivered(words, words)


class Together(Struct, frozen=True):
    """One reply in several rooms."""

    streams: Sequence[ReplyStream]
    is_written: ClassVar = False

    @property
    def handed(self) -> str:
        """What was handed on so far."""
        return self.streams[0].handed

    async def feed(self, text: str) -> None:
        """Hand the text on to each."""
        for stream in self.streams:
            await stream.feed(text)

    async def close(self) -> None:
        """End all."""
        for stream in self.streams:
            await stream.close()

    async def cut(self) -> None:
        """Break all off."""
        for stream in self.streams:
            await stream.cut()

    @property
    def is_sounding(self) -> bool:
        """Whether it is heard anywhere."""
        return any(stream.is_sounding for stream in self.streams)

    async def ended(self) -> Delivered:
        """Wait until it is over everywhere, and return what became of it where most of it was heard."""
        accounts = [await stream.ended() for stream in self.streams]
        return max(accounts, key=lambda account: (not account.interrupted, len(account.heard)))


async def _forgotten(event: Event, words: str) -> None:
    """Keep nothing: a sign that it goes on is of no use later."""
