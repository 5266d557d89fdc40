"""Who asks at a door: the household, or whoever has proven a key; and the contexts that are theirs."""

from dataclasses import dataclass
from typing import Final

from agent.event import HOUSEHOLD
from memory.errors import NotProven
from memory.identity import NO_SUCH_CHALLENGE, Challenge, Identities, Identity

ROOM: Final = "room"
TYPED: Final = "cli"
"""Sessions: the household's voice, and whoever types and names none."""


@dataclass(slots=True)
class Caller:
    """Whose words come over one connection: the household's until a key is proven, then that key's.

    There is no way back to the household, whatever fails later. Each connection of a door has one of its own, so that
    nobody can answer, or use up, another's challenge.
    """

    owner_key: str = HOUSEHOLD
    _challenge: Challenge | None = None
    """What it was given to sign last, until the first answer."""

    @property
    def is_household(self) -> bool:
        """Whether no key was proven: a program of the same Unix user, which keeps the box."""
        return self.owner_key == HOUSEHOLD

    @property
    def home(self) -> str:
        """The session of what names none: the room's, or for another owner the one they type in."""
        return ROOM if self.is_household else self.session(TYPED)

    def session(self, name: str) -> str:
        """Return the context that a session of this name is; another owner's of the same name is another."""
        return name if self.is_household else f"{name}@{self.owner_key}"

    def challenged(self, identities: Identities) -> str:
        """Return something new to sign; what was to be signed before is good no longer."""
        self._challenge = identities.challenge()
        return self._challenge.text

    def prove(self, identities: Identities, owner_key: str, challenge: str, signature: str) -> Identity:
        """Speak for this key from now on, and return who that is. Raises `NotProven`; then nothing changes.

        The challenge is used up, whatever it proved.
        """
        given, self._challenge = self._challenge, None
        if given is None or given.text != challenge:
            raise NotProven(NO_SUCH_CHALLENGE)
        found = identities.prove(owner_key, given, signature)
        self.owner_key = found.owner_key
        return found
