"""One connection to a device: what it needs of the network, and what it tells. `esphome.py` is the real one."""

from collections.abc import Mapping
from typing import Final, Protocol

from msgspec import Struct

from appliance.satellites.interfaces import Features, Orders, Told, VoiceEvent


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
