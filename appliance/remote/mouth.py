"""The mouth of a remote place: replies become sound that is sent there, and text."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from time import monotonic
from typing import Final, Protocol

import numpy as np
from msgspec import Struct

from agent.bus import Bus
from agent.replies import Delivered, ForwardedReply, Reply, ReplyStream
from appliance.output.text import TextReplySink, WrittenToo
from appliance.output.voice import VoiceReplySink
from appliance.remote.outbox import MOST_SOUND, Outbox, SoundBegins, SoundEnds
from audio.errors import DeviceUnavailable
from audio.interfaces import Player, Synthesizer
from audio.loops import Loop, until_set
from audio.pcm import Samples
from audio.playback.speech_output import SpeechObserver, SpeechOutput, SpokenSentence
from audio.playback.volume import scaled
from audio.speech import SpeechAudio

AHEAD_SECONDS: Final = 0.8
"""Sent before it is heard."""

PIECE_SECONDS: Final = 0.1
"""Of sound sent at a time: with it no more than a second is ahead."""

DELAY_SECONDS: Final = 0.15
"""From sending to hearing, as far as anybody knows: what a page collects before it begins to play, and the way there.
"""


class RemotePlayer:
    """A `Player` over an outbox. The place plays what it is sent at once, in order, and drops the rest when it is cut.

    Nobody reports what was heard there: it is reckoned by the clock, from when the sound was sent. What a pause cut off
    is sent again when it goes on. Where it is not `is_paced`, sound goes as fast as it is taken, and counts as heard.
    """

    def __init__(
        self, name: str, outbox: Outbox, *, is_paced: bool = True, clock: Callable[[], float] = monotonic
    ) -> None:
        self.name = name
        self._outbox = outbox
        self._is_paced = is_paced
        self._clock = clock
        self._event_id = ""
        self._sample_rate = 0
        """Hz of the sound that the place is playing; 0 while it is playing none."""
        self.busy_until = 0.0
        """Seconds on the clock at which the last sample that was sent is over; 0 if nothing ever was."""
        self._sent: Samples = np.zeros(0, np.int16)
        """The newest samples that were sent, as they came; at least all that were not heard yet."""
        self._unsent = 0
        """Samples that `play` still holds."""
        self._held: Samples | None = None
        """While it is paused: what was cut off."""
        self._held_rate = 0
        self._stops = 0
        """How often it was stopped: what `play` held then is not sent."""
        self._gain = 1.0
        self._changed = asyncio.Event()

    def speaks_of(self, event_id: str, words: str) -> None:
        """Take which event is answered by what is played from now on."""
        if event_id != self._event_id and self._sample_rate:
            self.finish()
        self._event_id = event_id

    def finish(self) -> None:
        """Tell the place that all was said."""
        self._end(is_cut=False)

    async def start(self) -> None:
        """There is nothing to open: the place is there, or it is gone."""

    async def play(self, audio: SpeechAudio) -> None:
        """Send the samples; wait while enough of them is ahead. Raises `DeviceUnavailable` when the place is gone."""
        size, stops = max(1, round(PIECE_SECONDS * audio.sample_rate)), self._stops
        self._unsent = len(audio.samples)
        for at in range(0, len(audio.samples), size):
            await self._until_left(AHEAD_SECONDS)
            if self._stops != stops:
                return
            piece = audio.samples[at : at + size]
            self._unsent -= len(piece)
            self._append(piece, audio.sample_rate)
        await self._until_left(AHEAD_SECONDS)

    async def drain(self) -> None:
        """Return when the last sample was heard. Raises `DeviceUnavailable` when the place is gone."""
        await self._until_left(0.0)

    def stop(self) -> float:
        """Cut off what was not heard yet, and return its seconds."""
        rate = self._sample_rate or self._held_rate
        dropped = len(self._cut_off()) + self._unsent + (0 if self._held is None else len(self._held))
        self._held, self._unsent = None, 0
        self._stops += 1
        self._changed.set()
        return dropped / rate if rate else 0.0

    def pause(self) -> None:
        """Have the place fall silent; what was not heard yet is kept. What is not paced was heard already."""
        if self._is_paced and self._held is None:
            self._held_rate = self._sample_rate or self._held_rate
            self._held = self._cut_off()

    def resume(self) -> None:
        """Send what was cut off."""
        if self._held is not None:
            held, self._held = self._held, None
            if len(held):
                self._append(held, self._held_rate)
            self._changed.set()

    def set_gain(self, factor: float) -> None:
        """Scale what is sent from now on by a factor in [0, 1]."""
        self._gain = factor

    async def aclose(self) -> None:
        """Tell the place that no more comes."""
        self.finish()

    def _append(self, samples: Samples, sample_rate: int) -> None:
        if self._held is not None:
            self._held = np.concatenate([self._held, samples])
            self._held_rate = sample_rate
            return
        if self._sample_rate != sample_rate:
            self.finish()
            self._sample_rate = sample_rate
            self._outbox.put(SoundBegins(sample_rate, self._event_id))
        now = self._clock()
        unheard = self._unheard(now)
        self._sent = np.concatenate([self._sent[len(self._sent) - unheard :], samples])
        if self._is_paced:
            self.busy_until = max(self.busy_until, now + DELAY_SECONDS) + len(samples) / sample_rate
        else:
            self.busy_until = now
        self._outbox.put(scaled(samples, self._gain).astype("<i2").tobytes())

    def _unheard(self, now: float) -> int:
        left = round((self.busy_until - now) * self._sample_rate)
        return min(max(left, 0), len(self._sent))

    def _cut_off(self) -> Samples:
        """Have the place drop what was not heard yet; return that as it was before the gain."""
        now = self._clock()
        unheard = self._unheard(now)
        rest = self._sent[len(self._sent) - unheard :]
        self.busy_until = min(self.busy_until, now)
        self._end(is_cut=True)
        return rest

    def _end(self, *, is_cut: bool) -> None:
        if not self._sample_rate:
            return
        self._sent, self._sample_rate = self._sent[:0], 0
        if is_cut:
            self._outbox.drop_sound()
        self._outbox.put(SoundEnds(self._event_id, is_cut))

    async def _until_left(self, seconds: float) -> None:
        """Wait until no more than so many seconds are ahead. Raises `DeviceUnavailable`."""
        while not self._outbox.gone.is_set():
            await self._outbox.until_sound_waits(MOST_SOUND if seconds else 0)
            left = self.busy_until - self._clock() - seconds if self._is_paced else 0.0
            is_held = self._held is not None and (bool(len(self._held)) or seconds > 0)
            if left <= 0 and not is_held:
                break
            self._changed.clear()
            await until_set(self._changed, None if is_held else left)
        if self._outbox.gone.is_set():
            raise DeviceUnavailable(f"{self.name} is gone; what is left of the reply is in writing")

    def look(self) -> None:
        """Take that the place may be gone: whoever waits is told."""
        self._changed.set()


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

    def look(self) -> None:
        """Take that something may have changed outside, be it that the place is gone: whoever waits is told."""


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
        self._player.look()
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


class Lent(Synthesizer):
    """A voice that somebody else keeps ready."""

    def __init__(self, voice: Synthesizer) -> None:
        self.name, self.sends_to, self._voice = voice.name, voice.sends_to, voice

    def speak(self, sentence: str, language: str) -> AsyncIterator[SpeechAudio]:
        """Yield what the voice says. Raises `SynthesisFailed`."""
        return self._voice.speak(sentence, language)
