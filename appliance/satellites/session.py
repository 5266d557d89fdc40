"""One connection to a device: what it needs of the network, and what it tells. `esphome.py` is the real one."""

from collections.abc import Mapping
from typing import Final, Protocol

from msgspec import Struct

from appliance.satellites.interfaces import Features, VoiceEvent


class About(Struct, frozen=True):
    """Who answers, as it says itself."""

    id: str
    """MAC address in small letters with colons."""
    name: str
    label: str = ""
    """For people."""
    model: str = ""
    firmware: str = ""
    area: str = ""
    """The room that its maker or its configuration suggests."""


class Incoming(Protocol):
    """Is told what a device sends. On the event loop, at once."""

    def wake(self, phrase: str) -> bool:
        """Return whether the sound that follows is taken."""

    def audio(self, pcm: bytes) -> None:
        """Take int16 little endian, 16 kHz, mono."""

    def stopped(self, aborted: bool) -> None:
        """Take the end of the sound."""
        return

    def announcement_finished(self) -> None:
        """Take the end of a playback."""
        return

    def muted(self, is_muted: bool) -> None:
        """Take the state of its microphone's switch."""
        return

    def volume(self, level: float) -> None:
        """Take its loudspeaker's, in [0, 1]."""
        return


class _Nobody(Incoming):
    """Takes nothing, as long as a device is only looked at."""

    def wake(self, phrase: str) -> bool:
        return False

    def audio(self, pcm: bytes) -> None: ...


NOBODY: Final[Incoming] = _Nobody()


class Session(Protocol):
    """A connection to a device that said who it is. Commands to one that is gone are dropped."""

    @property
    def about(self) -> About:
        """Who answers."""

    @property
    def local_address(self) -> str:
        """The IP address of this machine on the connection."""

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

    def stop_media(self) -> None:
        """Silence its media player."""

    def send_audio(self, pcm: bytes) -> None:
        """Send raw sound."""

    def set_volume(self, level: float) -> None:
        """Set its loudspeaker's, in [0, 1]."""

    def set_muted(self, is_muted: bool) -> None:
        """Mute its microphone, or open it."""


class Dial(Protocol):
    """Connects to a device."""

    async def __call__(self, address: str, port: int, key: str, mac: str) -> Session:
        """Return a connection, logged in, to whoever answers there; only to the device of `mac` where one is named.

        `key` is "" for one without encryption. Raises SatelliteGone, SatelliteRefused.
        """
