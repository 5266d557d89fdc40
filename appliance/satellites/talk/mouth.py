"""The mouth of a satellite: the sentences of a reply as one sound that the device gets and plays by itself."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final

import structlog

from agent.replies import Reply, ReplyStream
from appliance.remote.mouth import FollowedDelivery, PlaceMouth, Speaking
from appliance.satellites.errors import SatelliteGone
from appliance.satellites.interfaces import Device, VoiceEvent
from appliance.satellites.talk.body import RAW, Body, wanted
from appliance.satellites.talk.runs import Runs, is_question
from appliance.satellites.talk.serving import ReplyServer
from audio.errors import DeviceUnavailable
from audio.loops import Loop, until_set
from audio.pcm import Samples
from audio.playback.volume import scaled
from audio.speech import SpeechAudio

log = structlog.get_logger()

FETCHED_WITHIN: Final = 10.0
"""Seconds within which a device comes for a sound that it was told of."""

USUAL_DELAY: Final = 0.5
"""Seconds from its first byte to its first sound, before the device has shown its own."""

MOST_DELAY: Final = 4.0

PATIENCE: Final = 4.0
"""Seconds that a device may play longer than it should; then it counts as heard."""

FEED_AHEAD: Final = 0.6
"""Seconds before the end of a sentence at which the next one is wanted, so that no pause is made between them."""

CUT_SECONDS: Final = 1.2
"""By which playback may end earlier than it should before it counts as stopped there: linux-voice-assistant tells of
its end when the last 0.8 s are still in the loudspeaker's buffer."""

MOST_AHEAD: Final = 30.0
"""Seconds of sound that are put ahead of what is heard."""

RAW_CHUNK: Final = 1024
"""Bytes: 512 samples, as devices without a media player take them."""

RAW_PACE: Final = 0.9
"""Of real time, at which they are sent."""


class SatellitePlayer:
    """A `Player` over urls, or over the device's own connection where it has no media player.

    What was heard is reckoned: from the first byte on, by the device's delay, which the end of each playback shows. A
    pause holds back what the device has not got yet; the rest of a sentence under way sounds.
    """

    def __init__(
        self,
        device: Device,
        server: ReplyServer,
        runs: Runs,
        has_next: Callable[[], bool],
        has_more: Callable[[], bool],
        clock: Callable[[], float],
    ) -> None:
        """Play by a device.

        `has_next` says whether a sentence waits behind the one under way, `has_more` whether anything is to come that
        belongs to the same sound.
        """
        self.name = f"the satellite {device.name}"
        self._device = device
        self._server = server
        self._runs = runs
        self._has_next = has_next
        self._has_more = has_more
        self._clock = clock
        self._changed = asyncio.Event()
        self._body: Body | None = None
        self._is_finished = False
        """Whether the device said that it has played the body."""
        self._told_at = 0.0
        self._delay = USUAL_DELAY
        self._words = ""
        self._gain = 1.0
        self._stops = 0
        self._free = asyncio.Event()
        self._free.set()
        self._to_tell: asyncio.Queue[tuple[Body, str, str]] = asyncio.Queue(2)
        """Sounds that no run takes: each with its url, "" for what is sent raw, and its words."""
        self._busy_until = 0.0

    @property
    def is_sounding(self) -> bool:
        """Whether the device has something to play."""
        return self._body is not None and not self._is_finished

    @property
    def busy_until(self) -> float:
        """Seconds on the clock until which sound is heard there; 0 if nothing ever was."""
        return self._busy_until if self._body is None else self._body.ends_at + self._delay

    async def start(self) -> None:
        """There is nothing to open: the device is there, or it is gone."""

    async def play(self, audio: SpeechAudio) -> None:
        """Append the samples to the sound under way, or to a new one. Raises `DeviceUnavailable`."""
        stops = self._stops
        await self._free.wait()
        await self._runs.may_sound()
        if self._stops != stops:
            return
        body = self._body
        if body is None or body.is_whole:
            if body is not None:
                await self._until_played(body)
            body = await self._open()
        if self._stops != stops:
            return
        samples: Samples = scaled(audio.samples, self._gain)
        body.put(SpeechAudio(samples, audio.sample_rate))
        while self._body is body and body.ends_at - self._clock() > MOST_AHEAD and not body.is_whole:
            await self._wait(1.0)

    async def drain(self) -> None:
        """Return when what was played is heard, or soon will be and more follows. Raises `DeviceUnavailable`."""
        while (body := self._body) is not None:
            if not self._has_more():
                body.finish()
            if body.is_whole:
                await self._until_played(body)
                return
            self._check(body)
            left = body.ends_at - self._clock() + (-FEED_AHEAD if self._has_next() else self._delay)
            if body.is_taken and left <= 0:
                return
            await self._wait(max(left, 0.05) if body.is_taken else 1.0)

    def stop(self) -> float:
        """Silence the device, and return the seconds that were not heard."""
        body, self._body = self._body, None
        self._stops += 1
        self._free.set()
        self._changed.set()
        if body is None:
            return 0.0
        left = self._unheard(body)
        self._busy_until = self._clock()
        if not self._is_finished:
            self._device.stop_media()
        self._server.withdraw(body)
        body.cut()
        return left

    def _unheard(self, body: Body) -> float:
        if self._is_finished:
            return 0.0
        if not body.is_taken:
            return body.seconds
        now = self._clock() if body.broken_at is None else body.broken_at
        return min(max(body.ends_at + self._delay - now, 0.0), body.seconds)

    def pause(self) -> None:
        """Hand nothing more to the device."""
        self._free.clear()

    def resume(self) -> None:
        """Go on."""
        self._free.set()

    def set_gain(self, factor: float) -> None:
        """Scale what is put from now on by a factor in [0, 1]; its volume is the device's own."""
        self._gain = factor

    def speaks_of(self, event_id: str, words: str) -> None:
        """Take what is said next: the device shows it."""
        self._words = words

    def finish(self) -> None:
        """End the sound, where nothing more belongs to it; between two sentences."""
        if self._body is not None and not self._has_more():
            self._body.finish()

    def look(self) -> None:
        """Take that something may have changed outside, be it that the device is gone: whoever waits is told."""
        self._changed.set()

    async def aclose(self) -> None:
        """There is nothing to close."""

    def played(self) -> bool:
        """Take that the device has ended its playback; return whether it was stopped there before its end."""
        body = self._body
        if body is None or self._is_finished or not body.is_taken:
            return False  # of a sound before this
        late = self._clock() - body.ends_at
        if not body.is_whole or body.broken_at is not None or late < -CUT_SECONDS:
            return True
        self._is_finished = True
        self._delay = min(max(late, 0.0), MOST_DELAY)
        self._changed.set()
        return False

    async def run(self) -> None:
        """Tell the device of what no run takes, one after the other, for ever."""
        while True:
            body, url, words = await self._to_tell.get()
            if body.is_cut:
                continue
            if not url:
                await self._send_raw(body)
                continue
            goes_on = self._device.features.start_conversation and is_question(words)
            try:
                await self._device.announce(url, words, start_conversation=goes_on)
            except SatelliteGone as error:
                log.info("announcement_not_played", reason=str(error))
                body.cut()
                continue
            if body is self._body and self.played():
                self._runs.stopped_there()

    async def _open(self) -> Body:
        device = self._device
        if not device.is_there:
            raise DeviceUnavailable(f"{self.name} is not there")
        features = device.features
        is_raw = features.speaker and not (features.has_player or features.announce)
        body = Body(RAW if is_raw else wanted(features.formats), self._clock, self._changed)
        self._is_finished, self._told_at, self._body = False, self._clock(), body
        if is_raw:
            await self._to_tell.put((body, "", self._words))
            return body
        try:
            url = await self._server.offer(body, device.local_address, device.address)
        except OSError as error:
            self._body = None
            raise DeviceUnavailable(f"no reply can be served to {self.name}: {error.strerror}") from error
        if not self._runs.sounds(url, self._words):
            await self._to_tell.put((body, url, self._words))
        return body

    async def _until_played(self, body: Body) -> None:
        """Return when the device has played a whole sound, or should have. Raises `DeviceUnavailable`."""
        while self._body is body:
            self._check(body)
            late = 0.0 if self._is_finished else self._delay + PATIENCE
            left = body.ends_at + late - self._clock()
            if body.is_taken and left <= 0:
                if not self._is_finished:
                    log.info("playback_end_not_told", satellite=self._device.name)
                break
            await self._wait(max(left, 0.05) if body.is_taken else 1.0)
        if self._body is body:
            self._busy_until, self._body = min(self._clock(), body.ends_at + self._delay), None

    def _check(self, body: Body) -> None:
        now = self._clock()
        if not self._device.is_there:
            raise DeviceUnavailable(f"{self.name} is gone")
        if body.is_cut and self._body is body:
            raise DeviceUnavailable(f"{self.name} did not play what it was told to")
        if not body.is_taken and now - self._told_at > FETCHED_WITHIN:
            raise DeviceUnavailable(f"{self.name} did not come for the sound; see [satellites] of the configuration")
        if body.broken_at is not None and now - body.broken_at > CUT_SECONDS:
            raise DeviceUnavailable(f"{self.name} took only a part of the sound")

    async def _wait(self, seconds: float) -> None:
        self._changed.clear()
        await until_set(self._changed, seconds)

    async def _send_raw(self, body: Body) -> None:
        """Send a sound over the device's own connection, hardly faster than it plays."""
        device, waits = self._device, bytearray()
        self._runs.sounds("", self._words)
        device.tell(VoiceEvent.TTS_STREAM_START)
        body.take()
        due = self._clock()
        async for piece in body.pieces():
            waits += piece
            while len(waits) >= RAW_CHUNK and not body.is_cut:
                device.send_audio(bytes(waits[:RAW_CHUNK]))
                del waits[:RAW_CHUNK]
                due += RAW_PACE * RAW_CHUNK / 2 / body.kind.sample_rate
                await asyncio.sleep(max(0.0, due - self._clock()))
        if waits and not body.is_cut:
            device.send_audio(bytes(waits) + bytes(RAW_CHUNK - len(waits)))
        device.tell(VoiceEvent.TTS_STREAM_END)


class SatelliteMouth(PlaceMouth):
    """A `ReplySink`: what cannot be heard there any more counts as interrupted."""

    def __init__(self, shared: Speaking, device: Device, server: ReplyServer, runs: Runs) -> None:
        self.player = SatellitePlayer(device, server, runs, self._has_next, self._has_more, shared.clock)
        super().__init__(shared, self.player)
        self.device = device
        self._runs = runs
        self._open: set[str] = set()
        """Ids of the calls whose words are not whole."""
        self._sign_of = ""
        """Id of the event, where what was said last only told that it goes on."""

    def open(self, reply: Reply) -> ReplyStream:
        """Return a delivery that speaks the reply there."""
        self._open.add(reply.call_id)
        self._sign_of = ""

        def closed(words: str) -> None:
            if reply.call_id in self._open:
                self._open.discard(reply.call_id)
                self._sign_of = reply.event.id if reply.is_sign else ""
                if words and not reply.is_sign:
                    self._runs.answered(reply.event.id, words)
                self.player.look()

        return FollowedDelivery(self._spoken(reply), self.player.look, closed)

    @property
    def is_replying(self) -> bool:
        """Whether a reply is under way."""
        return self.voice.is_replying

    def stop_speaking(self) -> str:
        """Be silent at once; return the id of the event whose reply was under way first, "" when there was none."""
        return self.voice.stop_speaking()

    def over(self, event_id: str) -> None:
        """Take that the run of an event is over: no more belongs to what was said of it."""
        if self._sign_of == event_id:
            self._sign_of = ""
            self.player.look()
            if self.speech.current is None:
                self.player.finish()

    def _has_next(self) -> bool:
        return self.speech.has_more

    def _has_more(self) -> bool:
        return self.speech.has_more or bool(self._open) or bool(self._sign_of)

    def loops(self) -> Mapping[str, Loop]:
        """Return what speaks, until cancelled."""
        return {**super().loops(), "satellite: what it is told to play": self.player.run}
