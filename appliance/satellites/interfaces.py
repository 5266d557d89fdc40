"""A paired device as the rest sees it, and one connection to it: what it can do, what it is told, who is told what."""

from collections.abc import Mapping
from enum import IntEnum
from typing import Final, Protocol

from msgspec import Struct

from audio.loops import Loop


class VoiceEvent(IntEnum):
    """What a device is told of its run. Numbers of VoiceAssistantEvent in ESPHome's api.proto.

    They are repeated here because their library takes more than a second to import.
    """

    ERROR = 0
    """With "code" and "message"; it ends the run."""
    RUN_START = 1
    RUN_END = 2
    STT_START = 3
    STT_END = 4
    """With "text"."""
    INTENT_START = 5
    INTENT_END = 6
    """With "conversation_id" and "continue_conversation", "1" or "0"."""
    TTS_START = 7
    """With "text"."""
    TTS_END = 8
    """With "url", which a device with a media player gets."""
    STT_VAD_END = 12
    """Closes its microphone: there is no other end of a turn."""
    TTS_STREAM_START = 98
    """Before `Device.send_audio`, for a device without a media player."""
    TTS_STREAM_END = 99


class PlayedFormat(Struct, frozen=True):
    """A kind of sound that its media player wants to be given."""

    format: str
    """"flac", "mp3" or "wav"."""
    sample_rate: int
    """Hz; 0 for any."""
    channels: int
    """0 for any."""
    is_for_announcements: bool = False
    """Replies and announcements; else music."""


class Features(Struct, frozen=True):
    """What a device can do, as it says of itself at each connection; a firmware update changes it."""

    has_microphone: bool = False
    """Hears, and can be woken; else it only plays."""
    speaker: bool = False
    """Plays raw sound, 16 kHz mono int16, that comes over this connection (`Device.send_audio`)."""
    announce: bool = False
    """Gets and plays a url (`Device.announce`)."""
    timers: bool = False
    """Can show timers; nakari rings by itself."""
    start_conversation: bool = False
    """Opens its microphone after an announcement."""
    has_player: bool = False
    """A media player: gets the url of a reply, can be stopped, has a volume."""
    has_mute: bool = False
    """Its microphone can be muted from here (`Device.set_muted`)."""
    formats: tuple[PlayedFormat, ...] = ()
    """What its media player wants; () when it says nothing, and takes what it can decode."""
    wake_words: tuple[str, ...] = ()
    """Words that wake it now, as people say them."""


class Told(Protocol):
    """Is told what a device sends. On the event loop, in the order of the connection, and nothing here may wait."""

    def audio(self, pcm: bytes) -> None:
        """Take int16 little endian, 16 kHz, mono; any even length, usually 64 ms."""

    def stopped(self, aborted: bool) -> None:
        """Take the end of its sound: it ended the stream, or (`aborted`) somebody stopped the run there."""
        return

    def announcement_finished(self) -> None:
        """Take that a run's reply was played or cut off there. Not told of what `Device.announce` waits for."""
        return

    def muted(self, is_muted: bool) -> None:
        """Its microphone was muted or opened, there or from here; told once after each `there(True)` if it can be."""
        return

    def volume(self, level: float) -> None:
        """Its loudspeaker's, in [0, 1]; told once after each `there(True)` if it has one."""
        return


class DeviceObserver(Told, Protocol):
    """Follows one device; a subclass overrides what is wanted.

    `there(False)` ends a run that was open; nothing comes until `there(True)`.
    """

    def wake(self, phrase: str, *, follows_reply: bool) -> bool:
        """Return whether to take the sound that follows, which opens a run; False refuses.

        `phrase` is the wake word, "" when a button was pressed or the microphone opened again after a reply, which
        `follows_reply` tells: no wake word was said, though the device runs on one.
        """

    def there(self, is_there: bool) -> None:
        """Take that it can be talked with, `Device.features` being new, or that it is gone."""
        return


class Orders(Protocol):
    """What a device can be told to do at any time; dropped without an error while it is not there, or cannot."""

    @property
    def local_address(self) -> str:
        """The IP address under which the device reaches this machine, for urls; "" while it is not there."""

    def stop_media(self) -> None:
        """Silence its media player: reply, announcement or music."""

    def send_audio(self, pcm: bytes) -> None:
        """Send raw sound for `Features.speaker`: int16 16 kHz mono, 512 samples at a time, paced by the caller."""

    def set_volume(self, level: float) -> None:
        """Set its loudspeaker's, in [0, 1]."""

    def set_muted(self, is_muted: bool) -> None:
        """Mute its microphone, or open it."""


class Device(Orders, Protocol):
    """One paired device, there or not. All on the event loop; of what it is told only `announce` may fail."""

    @property
    def id(self) -> str:
        """Its MAC address in small letters with colons; the same for years."""

    @property
    def name(self) -> str:
        """Its name on the network, as it says itself; a firmware update may change it."""

    @property
    def room(self) -> str:
        """The room's name where it stands; its own name where none was said."""

    @property
    def is_there(self) -> bool:
        """Whether it is connected, has proved who it is, and gives its voice to this box."""

    @property
    def features(self) -> Features:
        """As it said last; none before the first connection."""

    @property
    def address(self) -> str:
        """The IP address of the device on the connection; "" while it is not there."""

    def observe(self, observer: DeviceObserver) -> None:
        """Tell also this one; sound is taken when any says so."""

    def tell(self, event: VoiceEvent, data: Mapping[str, str] | None = None) -> None:
        """Tell a step of its run."""

    async def announce(
        self, url: str, text: str, *, start_conversation: bool = False, patience_seconds: float = 120.0
    ) -> None:
        """Let it play a url and return when it says that playback ended. Raises SatelliteGone.

        One at a time. linux-voice-assistant says so of a short file before its first sample sounds. After
        `patience_seconds` without an end it counts as gone; the device may still play.
        """


class DevicesObserver(Protocol):
    """Follows which devices are paired. On the event loop, at once."""

    def joined(self, device: Device) -> None:
        """Take a device, paired before or just now; it is not there yet."""

    def left(self, device: Device) -> None:
        """Take that the device was forgotten; `there(False)` came before."""


class Devices(Protocol):
    """All paired devices."""

    def loops(self) -> Mapping[str, Loop]:
        """Return what keeps them connected, until cancelled."""

    def observe(self, observer: DevicesObserver) -> None:
        """Tell also this one, at once of those that are paired already."""


class About(Struct, frozen=True):
    """Who answers, as it says itself."""

    id: str
    """MAC address in small letters with colons."""
    name: str
    label: str = ""
    """For people."""
    model: str = ""
    firmware: str = ""


class Incoming(Told, Protocol):
    """Is told what a device sends, at once."""

    def wake(self, phrase: str) -> bool:
        """Return whether the sound that follows is taken."""


class _Nobody(Incoming):
    """Takes nothing, as long as a device is only looked at."""

    def wake(self, phrase: str) -> bool:
        return False

    def audio(self, pcm: bytes) -> None: ...


NOBODY: Final[Incoming] = _Nobody()


class Session(Orders, Protocol):
    """A connection to a device that said who it is."""

    @property
    def about(self) -> About:
        """Who answers."""

    async def listen(self, incoming: Incoming) -> Features:
        """Take its voice; return what it can do. Raises SatelliteGone, SatelliteRefused."""

    def ask_states(self) -> None:
        """Have the state of its switch and its volume told, now and when they change; after `listen`."""

    async def ended(self) -> None:
        """Return when the connection is over. Raises SatelliteRefused when it cannot be used any more."""

    async def close(self) -> None:
        """End the connection."""

    def tell(self, event: VoiceEvent, data: Mapping[str, str]) -> None:
        """Tell a step of its run."""

    async def announce(self, url: str, text: str, *, start_conversation: bool, patience_seconds: float) -> None:
        """Let it play; return when playback ended. Raises SatelliteGone."""


class Dial(Protocol):
    """Connects to a device."""

    async def __call__(self, address: str, port: int, key: str, mac: str) -> Session:
        """Return a connection, logged in, to whoever answers there; only to the device of `mac` where one is named.

        `key` is "" for one without encryption. Raises SatelliteGone, SatelliteRefused.
        """
