"""The mouth of a remote place: replies become sound that is sent there, and text."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final, Protocol

from msgspec import Struct

from agent.bus import Bus
from agent.replies import Delivered, ForwardedReply, Reply, ReplyStream
from appliance.output.text import TextReplySink, WrittenToo
from appliance.output.voice import VoiceReplySink
from appliance.remote.outbox import Outbox
from appliance.remote.player import RemotePlayer
from audio.interfaces import Player, Synthesizer
from audio.loops import Loop
from audio.playback.speech_output import SpeechObserver, SpeechOutput, SpokenSentence

NAME: Final = "a remote place"

MOST_REPLIES: Final = 16
"""Newest ones, of which it is known what they answer."""


class Speaking(Struct, frozen=True):
    """What remote mouths share with the room's."""

    voice: Synthesizer
    text: TextReplySink
    bus: Bus
    language: str
    """ISO 639-1."""
    clock: Callable[[], float]


class RemoteDelivery(WrittenToo, kw_only=True):
    """A reply that is said at a remote place, and written. Where nobody is there any more, what was written counts."""

    gone: asyncio.Event

    async def ended(self) -> Delivered:
        """Wait until it was heard, or until nobody can hear it: then it is read."""
        delivered = await self.stream.ended()
        return await self.written.ended() if self.gone.is_set() else delivered


class FollowedDelivery(ForwardedReply):
    """A reply that is only said at a place, which follows its words."""

    fed: Callable[[], None]
    """Told after each piece."""
    closed: Callable[[str], None]
    """Told with its words, when no more come."""

    async def feed(self, text: str) -> None:
        """Hand the text on."""
        await self.stream.feed(text)
        self.fed()

    async def close(self) -> None:
        """End it."""
        await self.stream.close()
        self.closed(self.handed)

    async def cut(self) -> None:
        """Break it off."""
        await self.stream.cut()
        self.closed(self.handed)


class PlacePlayer(Player, Protocol):
    """A loudspeaker elsewhere than in the room."""

    def speaks_of(self, event_id: str, words: str) -> None:
        """Take which event is answered by what is played from now on, "" for none, and its words."""

    def finish(self) -> None:
        """Take that all was said."""

    def give_up(self) -> None:
        """Take that the place is gone: whoever waits is told."""


class PlaceMouth(SpeechObserver):
    """What speaks elsewhere than in the room. A sentence is journaled before its first sample is sent."""

    def __init__(self, shared: Speaking, player: PlacePlayer) -> None:
        self._shared = shared
        self._player = player
        self.speech = SpeechOutput(Lent(shared.voice), player, shared.clock)
        self.voice = VoiceReplySink(self.speech, shared.bus, shared.language)
        self._answered: dict[str, str] = {}
        """By the id of a reply's call, the event that it answers."""
        self.speech.observe(self)

    def _spoken(self, reply: Reply) -> ReplyStream:
        while len(self._answered) >= MOST_REPLIES:
            del self._answered[next(iter(self._answered))]
        self._answered[reply.call_id] = reply.event.id
        return self.voice.open(reply)

    def leave(self) -> None:
        """Take that nobody hears it any more; what is still to be said is in writing."""
        self._player.give_up()
        self.voice.stop_speaking()

    async def sentence_started(self, sentence: SpokenSentence) -> None:
        """Have the sound say which event it answers."""
        self._player.speaks_of(self._answered.get(sentence.key, ""), sentence.text)

    def speaking_changed(self, speaking: bool) -> None:
        """Tell the place when all was said."""
        if not speaking:
            self._player.finish()

    def loops(self) -> Mapping[str, Loop]:
        """Return what speaks, until cancelled."""
        return self.speech.loops()


class RemoteMouth(PlaceMouth):
    """A `ReplySink` for a place that reads what it cannot hear."""

    def __init__(self, shared: Speaking, outbox: Outbox, *, is_paced: bool) -> None:
        super().__init__(shared, RemotePlayer(NAME, outbox, is_paced=is_paced, clock=shared.clock))
        self._outbox = outbox

    def open(self, reply: Reply) -> ReplyStream:
        """Return a delivery that speaks the reply there and has it written."""
        return RemoteDelivery(self._spoken(reply), self._shared.text.open(reply), gone=self._outbox.gone)


class Lent:
    """A voice that somebody else keeps ready."""

    def __init__(self, voice: Synthesizer) -> None:
        self.name = voice.name
        self.sends_to = voice.sends_to
        self.speak = voice.speak
