"""A small device of another room that speaks ESPHome's native API, with and without Noise, and with faults.

    async with SmallDevice(name="kitchen", key=new_key()) as device:
        ...pair it: address "127.0.0.1", `device.port`, `device.key`, `device.mac`...
        await device.subscribed()                      # somebody listens to its voice
        device.wake("okay nabu")                       # START; nothing waits
        await device.told(VoiceAssistantResponse)      # what it was answered: `.error` when it was refused
        device.hear(pcm)                               # int16 16 kHz mono, sent in chunks of 64 ms
        await device.told_event(VoiceEvent.STT_VAD_END)  # all events, in order, are in `device.events`
        await device.played()                          # the body of the url of a TTS_END or an announcement, whole
        device.end_stream(); device.abort()            # it stopped sending; somebody stopped it there
        device.press_mute(True); device.turn_volume(0.3)
        device.drop()                                  # the connection is cut; `unplug`, `plug_in` for the whole thing

It plays what it is told to: TTS_END's url and announcements are got, recorded, and reported as finished, unless
`device.hold_playback()` makes playback last until `device.finish_playback()`. A STOP command ends a playback.
After an announcement that starts a conversation, and a reply that goes on ("continue_conversation"), it opens the
microphone again by itself, as firmware does. A second subscriber is refused and told in the device's log, as firmware
does. `device.manners` has the faults; they may be changed while it runs.
"""

import asyncio
import base64
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from importlib import import_module
from typing import Any, Final, Self, TypeVar

import httpx
from aioesphomeapi.core import MESSAGE_TYPE_TO_PROTO
from google.protobuf.message import Message

from tests.satellites.wire import BadFrame, Noise, Plain, Wire, frame

pb: Any = import_module("aioesphomeapi.api_pb2")
"""The messages; it builds them when it is imported, so that no checker knows them."""

NUMBERS: Final = {kind: number for number, kind in MESSAGE_TYPE_TO_PROTO.items()}

CHUNK_BYTES: Final = 2048
"""64 ms, as linux-voice-assistant sends it."""

VOICE, SPEAKER, API_AUDIO, TIMERS, ANNOUNCE, START_CONVERSATION = (1 << bit for bit in range(6))
ALL: Final = VOICE | API_AUDIO | TIMERS | ANNOUNCE | START_CONVERSATION

PLAYER, MUTE = 1, 2
"""Keys of its entities."""

M = TypeVar("M", bound=Message)


class Fault(Enum):
    """How it goes wrong."""

    NONE = "as it should"
    SAYS_NOTHING = "takes the connection and says nothing"
    CUT_HANDSHAKE = "ends the connection in the middle of the handshake"
    GARBAGE = "answers with bytes that are no frame"
    ENDLESS_FRAME = "begins a frame that never ends"
    NO_PONG = "logs in, then answers no ping"
    CLOSES_AFTER_LOGIN = "logs in and ends the connection"


@dataclass
class Manners:
    """How it behaves."""

    fault: Fault = Fault.NONE
    flags: int = ALL
    formats: tuple[tuple[str, int, int, bool], ...] = (("flac", 48000, 2, False), ("flac", 48000, 1, True))
    """Format, rate, channels, whether for announcements."""
    has_player: bool = True
    has_mute: bool = True
    wake_words: tuple[str, ...] = ("Okay Nabu", "Hey Jarvis")
    firmware: str = "2026.9.0"
    info: Mapping[str, Any] = field(default_factory=dict)
    """More of its DeviceInfoResponse."""


def new_key() -> str:
    """Return a key as people copy it: 32 bytes in base64."""
    return base64.b64encode(os.urandom(32)).decode()


class SmallDevice:
    """One device; an async context manager that serves it on loopback."""

    def __init__(
        self, name: str = "kitchen", mac: str = "AA:BB:CC:00:00:01", key: str = "", manners: Manners | None = None
    ) -> None:
        self.name, self.mac, self.key = name, mac, key
        self.manners = manners or Manners()
        self.port = 0
        self.messages: list[Message] = []
        """Everything it was told, in order, by everybody."""
        self.bodies: list[bytes] = []
        """What it got and played, in order."""
        self.holds_playback = False
        self.fetched = 0
        """Urls that it got to their end, and began to play."""
        self.connections = 0
        """How many have come so far."""
        self.sessions: list[Session] = []
        """Those that are open."""
        self.owner: Session | None = None
        """Whom it gives its voice."""
        self.is_streaming = False
        self._goes_on = False
        self._is_stopped = False
        self._news = asyncio.Event()
        self._server: asyncio.Server | None = None
        self._group = asyncio.TaskGroup()
        self._playing: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        await self.plug_in()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.unplug()
        for task in [*self._playing]:
            task.cancel()
        await self._group.__aexit__(None, None, None)

    async def plug_in(self) -> None:
        """Serve, at the port that it had."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: Session(self), "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def unplug(self) -> None:
        """Be gone, with all connections."""
        if self._server is not None:
            self._server.close()
            self._server = None
        self.drop()
        await asyncio.sleep(0)

    def drop(self) -> None:
        """Cut every connection."""
        for session in [*self.sessions]:
            session.cut()

    @property
    def events(self) -> list[tuple[int, dict[str, str]]]:
        """The voice events that it was told: number and data."""
        told = [each for each in self.messages if isinstance(each, pb.VoiceAssistantEventResponse)]
        return [(each.event_type, {one.name: one.value for one in each.data}) for each in told]

    async def subscribed(self) -> None:
        """Wait until somebody listens to its voice."""
        while self.owner is None:
            await self._change()

    async def told(self, kind: type[M], count: int = 1) -> M:
        """Return the last of `count` messages of a kind, when so many have come."""
        while len(found := [each for each in self.messages if isinstance(each, kind)]) < count:
            await self._change()
        return found[count - 1]

    async def told_event(self, number: int) -> dict[str, str]:
        """Return the data of the last voice event of a number, when one has come."""
        while not (found := [data for each, data in self.events if each == number]):
            await self._change()
        return found[-1]

    async def played(self, count: int = 1) -> bytes:
        """Return what it got last, when it has played `count` bodies to their end."""
        while len(self.bodies) < count:
            await self._change()
        return self.bodies[count - 1]

    async def plays(self, count: int = 1) -> None:
        """Wait until it has got so many urls to their end, whether or not they are played to theirs."""
        while self.fetched < count:
            await self._change()

    async def until_open(self, count: int) -> None:
        """Wait until so many connections are open."""
        while len(self.sessions) != count:
            await self._change()

    def wake(self, phrase: str = "okay nabu") -> None:
        """Have heard its wake word; "" for the button."""
        self.is_streaming = True
        self.say(pb.VoiceAssistantRequest(start=True, wake_word_phrase=phrase))

    def hear(self, pcm: bytes) -> None:
        """Send what its microphone hears."""
        for at in range(0, len(pcm), CHUNK_BYTES):
            self.say(pb.VoiceAssistantAudio(data=pcm[at : at + CHUNK_BYTES]))

    def end_stream(self) -> None:
        """Send no more sound, by itself."""
        self.is_streaming = False
        self.say(pb.VoiceAssistantAudio(end=True))

    def abort(self) -> None:
        """Have been stopped by somebody there."""
        self.is_streaming = False
        self.say(pb.VoiceAssistantRequest(start=False))

    def press_mute(self, is_muted: bool) -> None:
        """Have its microphone switched."""
        self._tell_all(pb.SwitchStateResponse(key=MUTE, state=is_muted))

    def turn_volume(self, level: float) -> None:
        """Have its loudspeaker turned."""
        self._tell_all(pb.MediaPlayerStateResponse(key=PLAYER, volume=level))

    def hold_playback(self) -> None:
        """Let what it plays from now on last."""
        self.holds_playback = True

    def finish_playback(self) -> None:
        """Let it come to its end."""
        self.holds_playback = False
        self.changed()

    def say(self, message: Message) -> None:
        """Send a message to whom it gives its voice; to nobody when there is none."""
        if self.owner is not None:
            self.owner.say(message)

    def _tell_all(self, message: Message) -> None:
        for session in self.sessions:
            session.say(message)

    def note(self, message: Message) -> None:
        """Record what it was told, and do it."""
        self.messages.append(message)
        if isinstance(message, pb.VoiceAssistantEventResponse):
            self._follow(message.event_type, {each.name: each.value for each in message.data})
        elif isinstance(message, pb.VoiceAssistantAnnounceRequest):
            self._play(message.media_id, message.start_conversation)
        elif isinstance(message, pb.MediaPlayerCommandRequest) and message.has_command and message.command == 2:
            self._is_stopped = True
        elif isinstance(message, pb.MediaPlayerCommandRequest) and message.has_volume:
            self.turn_volume(message.volume)
        elif isinstance(message, pb.SwitchCommandRequest):
            self.press_mute(message.state)
        self.changed()

    def changed(self) -> None:
        """Wake whoever waits for something here."""
        self._news.set()
        self._news = asyncio.Event()

    def _follow(self, number: int, data: Mapping[str, str]) -> None:
        match number:
            case 12:
                self.is_streaming = False
            case 6:
                self._goes_on = data.get("continue_conversation") == "1"
            case 8 if data.get("url"):
                self._play(data["url"], self._goes_on)

    def _play(self, url: str, opens_microphone: bool) -> None:
        self._is_stopped = False
        task = self._group.create_task(self._played(url, opens_microphone))
        self._playing.add(task)
        task.add_done_callback(self._playing.discard)

    async def _played(self, url: str, opens_microphone: bool) -> None:
        body = b""
        try:
            async with httpx.AsyncClient() as client, client.stream("GET", url) as answer:
                async for piece in answer.aiter_bytes():
                    body += piece
                    if self._is_stopped:
                        break
        except httpx.HTTPError:
            pass  # a device says nothing more of a url that is not there
        self.fetched += 1
        self.changed()
        while self.holds_playback and not self._is_stopped:
            await self._change()
        self.bodies.append(body)
        self.say(pb.VoiceAssistantAnnounceFinished(success=True))
        if opens_microphone:
            self.wake("")
        self.changed()

    async def _change(self) -> None:
        """Wait until anything has changed; called again after each look."""
        news = self._news
        await news.wait()


class Session(asyncio.Protocol):
    """One connection to it."""

    def __init__(self, device: SmallDevice) -> None:
        self._device = device
        mac = device.mac.replace(":", "").lower()
        self._wire: Wire = Noise(device.key, device.name, mac) if device.key else Plain()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._device.connections += 1
        self._device.sessions.append(self)
        self._device.changed()

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        self._device.sessions.remove(self)
        if self._device.owner is self:
            self._device.owner = None
        self._device.changed()

    def cut(self) -> None:
        """End the connection without a word."""
        if self._transport is not None:
            self._transport.abort()

    def say(self, message: Message) -> None:
        """Send a message."""
        self._write(self._wire.sent(NUMBERS[type(message)], message.SerializeToString()))

    def _write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)

    def data_received(self, data: bytes) -> None:
        match self._device.manners.fault:
            case Fault.SAYS_NOTHING:
                return
            case Fault.GARBAGE:
                self._write(bytes(range(7, 200)))
                return
            case Fault.ENDLESS_FRAME:
                self._write((b"\x01\xff\xff" if self._device.key else b"\x00\xff\xff\x03\x02") + bytes(1000))
                return
            case Fault.CUT_HANDSHAKE:
                self._write(frame(b"\x01")[:2] if self._device.key else b"\x00\x05")
                self.cut()
                return
        try:
            packets, answer = self._wire.received(data)
        except BadFrame as error:
            self._write(error.answer)
            if self._transport is not None:
                self._transport.close()
            return
        if answer:
            self._write(answer)
        for number, content in packets:
            self._answer(MESSAGE_TYPE_TO_PROTO[number].FromString(content))

    def _answer(self, message: Message) -> None:
        answers: dict[type[Message], Callable[[Any], None]] = {
            pb.HelloRequest: self._hello,
            pb.AuthenticationRequest: self._log_in,
            pb.PingRequest: self._pong,
            pb.DisconnectRequest: lambda message: self.say(pb.DisconnectResponse()),
            pb.DeviceInfoRequest: lambda message: self.say(self._info()),
            pb.ListEntitiesRequest: lambda message: self._list(),
            pb.SubscribeStatesRequest: lambda message: self._tell_states(),
            pb.SubscribeVoiceAssistantRequest: lambda message: self._give_voice(message.subscribe),
            pb.VoiceAssistantConfigurationRequest: lambda message: self.say(self._configuration()),
        }
        if answer := answers.get(type(message)):
            answer(message)
        self._device.note(message)

    def _hello(self, message: Message) -> None:
        self.say(pb.HelloResponse(api_version_major=1, api_version_minor=12, name=self._device.name))

    def _log_in(self, message: Message) -> None:
        if self._device.manners.fault is Fault.CLOSES_AFTER_LOGIN and self._transport is not None:
            self._transport.close()
        else:
            self.say(pb.AuthenticationResponse())

    def _pong(self, message: Message) -> None:
        if self._device.manners.fault is not Fault.NO_PONG:
            self.say(pb.PingResponse())

    def _info(self) -> Any:
        device, manners = self._device, self._device.manners
        told: dict[str, Any] = {
            "name": device.name,
            "friendly_name": device.name.title(),
            "mac_address": device.mac,
            "esphome_version": manners.firmware,
            "manufacturer": "Small",
            "model": "Device",
            "voice_assistant_feature_flags": manners.flags,
            **manners.info,
        }
        return pb.DeviceInfoResponse(**told)

    def _list(self) -> None:
        manners = self._device.manners
        if manners.has_player:
            formats = [
                pb.MediaPlayerSupportedFormat(
                    format=kind, sample_rate=rate, num_channels=channels, purpose=int(is_said)
                )
                for kind, rate, channels, is_said in manners.formats
            ]
            self.say(
                pb.ListEntitiesMediaPlayerResponse(
                    key=PLAYER, object_id="media_player", name="Media Player", supported_formats=formats
                )
            )
        if manners.has_mute:
            self.say(pb.ListEntitiesSwitchResponse(key=MUTE, object_id="mute", name="Mute", icon="mdi:microphone-off"))
        self.say(pb.ListEntitiesDoneResponse())

    def _tell_states(self) -> None:
        if self._device.manners.has_player:
            self.say(pb.MediaPlayerStateResponse(key=PLAYER, volume=0.5))
        if self._device.manners.has_mute:
            self.say(pb.SwitchStateResponse(key=MUTE, state=False))

    def _give_voice(self, is_wanted: bool) -> None:
        device = self._device
        if not is_wanted:
            device.owner = None if device.owner is self else device.owner
        elif device.owner is None:
            device.owner = self
        else:
            told = b"[E][voice_assistant:430]: Multiple API Clients attempting to connect to Voice Assistant"
            self.say(pb.SubscribeLogsResponse(level=1, message=told))

    def _configuration(self) -> Any:
        words = self._device.manners.wake_words
        if self._device.owner is not self or not words:
            return pb.VoiceAssistantConfigurationResponse()
        return pb.VoiceAssistantConfigurationResponse(
            available_wake_words=[
                pb.VoiceAssistantWakeWord(id=each.lower().replace(" ", "_"), wake_word=each) for each in words
            ],
            active_wake_words=[words[0].lower().replace(" ", "_")],
            max_active_wake_words=2,
        )
