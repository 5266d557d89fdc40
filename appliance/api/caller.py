"""Who asks: the household, or an owner with a key; and the contexts that are theirs."""

from typing import Final

from msgspec import Struct

from agent.event import HOUSEHOLD

ROOM: Final = "room"
TYPED: Final = "cli"
"""Sessions: the household's voice, and whoever types and names none."""


class Caller(Struct, frozen=True):
    """Whose words come with one request; the door that they came by has decided it."""

    owner_key: str = HOUSEHOLD
    program: str = ""
    """The name of the token that it showed, "" without one."""

    @property
    def is_household(self) -> bool:
        """Whether it speaks for the household, which keeps the box."""
        return self.owner_key == HOUSEHOLD

    @property
    def home(self) -> str:
        """The session of what names none: the room's, or for another owner the one they type in."""
        return ROOM if self.is_household else self.session(TYPED)

    def session(self, name: str) -> str:
        """Return the context that a session of this name is; another owner's of the same name is another."""
        return name if self.is_household else f"{name}@{self.owner_key}"
