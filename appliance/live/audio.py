"""What a WebSocket hands a browser's sound to, and how speech goes back over it."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Literal, Protocol, TypeAlias

from appliance.live.messages import Message
from memory.json_value import Json

Send: TypeAlias = Callable[[bytes | Message], Awaitable[None]]
"""Sends a binary frame (int16 mono PCM) or a message to this one client, in order.

Waits while the client is behind; raises `PlaceGone` once it cannot be reached any more.
"""


class AudioSession(Protocol):
    """The sound of one client; used by one task, from `begin` to `close`, the methods in any order between."""

    async def begin(self, session_id: str, how: Literal["push_to_talk", "open"]) -> None:
        """Take what follows as what somebody says in this session. Raises `Problem` where nothing can be heard."""

    def feed(self, pcm: bytes) -> None:
        """Take int16 mono samples of 16 kHz, any number of them; returns at once. Nothing before `begin` counts."""

    def end(self) -> None:
        """Say that the person let go of the button, or closed the microphone: what was said is to be understood."""

    def marks(self) -> Mapping[str, Json]:
        """Return what in an event's metadata has its answer sound on this client; for a `user_message` with `speak`."""

    def stop(self) -> None:
        """Be silent at once on this client."""

    def close(self) -> None:
        """Give everything up: the client is gone."""


OpensSound: TypeAlias = Callable[[str, Send], AudioSession]
"""Returns the sound of a client, by whose it is and what sends to it; cheap, as every WebSocket has one."""
