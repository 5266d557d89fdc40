"""Owners of events: the household, its members by key, visitors; and what each has set for themselves."""

import hmac
import secrets
import time
from collections.abc import Callable, Collection
from hashlib import sha256
from pathlib import Path
from typing import Final

from msgspec import Struct

from agent.context.remembered import SETTING as REMEMBERED
from agent.event import HOUSEHOLD
from agent.prompts import MODULES
from agent.unasked.wishes import UNWANTED
from appliance.admin.exchange import DATABASE
from appliance.errors import Exit, Problem
from appliance.owners.tokens import FOLDER, Tokens
from appliance.owners.visitors import keys_in
from appliance.wiring.memory.state import State
from memory.errors import NotProven
from memory.identity import Identities, Identity, is_public_key
from memory.state.owner_settings import PROMPT, Levels, OwnerSettings, Value
from memory.state.reader import read_only

CHALLENGE_SECONDS: Final = 60.0
"""How long a challenge may be answered."""

NO_SUCH_CHALLENGE: Final = "this challenge is unknown, used or too old; ask for a new one"

MOST_ANSWERED: Final = 10_000
"""Challenges whose answers are remembered, each for the minute that it could be answered again."""

_DIGITS: Final = 16
"""Of a challenge's end, in milliseconds on the clock, hexadecimal; its nonce and its seal have 32 each."""


class Challenges:
    """Gives challenges, and takes one answer to each, within a minute."""

    def __init__(self, identities: Identities, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` is in seconds."""
        self._identities = identities
        self._clock = clock
        self._secret = secrets.token_bytes(32)
        self._answered: dict[str, float] = {}

    def new(self) -> str:
        """Return something new to sign."""
        ends_at = int((self._clock() + CHALLENGE_SECONDS) * 1000)
        told = f"{secrets.token_hex(16)}{ends_at:0{_DIGITS}x}"
        return told + self._seal(told)

    def prove(self, owner_key: str, challenge: str, signature: str) -> Identity:
        """Return who signed the challenge, which is used up by any answer. Raises `NotProven`."""
        told, seal = challenge[: 32 + _DIGITS], challenge[32 + _DIGITS :]
        if not challenge.isascii() or not hmac.compare_digest(seal, self._seal(told)):
            raise NotProven(NO_SUCH_CHALLENGE)
        now = self._clock()
        self._answered = {each: end for each, end in self._answered.items() if end >= now}
        ends_at = int(told[32:], 16) / 1000
        if now > ends_at or challenge in self._answered or len(self._answered) >= MOST_ANSWERED:
            raise NotProven(NO_SUCH_CHALLENGE)
        self._answered[challenge] = ends_at
        return self._identities.prove(owner_key, challenge, signature)

    def _seal(self, told: str) -> str:
        return hmac.new(self._secret, told.encode(), sha256).hexdigest()[:32]


TOOL_CALLS: Final = "mind.tool_calls"
"""Tool calls that an event of an owner may use: their own wish, within the box's `mind.max_tool_calls`."""


class Owners(Struct):
    """The household needs no key: it is in the house."""

    identities: Identities
    settings: OwnerSettings
    tokens: Tokens
    _observers: list[Callable[[str], None]] = []

    def observe(self, observer: Callable[[str], None]) -> None:
        """Have somebody called with whose settings have changed, once that is durable.

        On the event loop; has to return at once.
        """
        self._observers.append(observer)

    def shares_graph(self, owner_key: str) -> bool:
        """Whether this owner's events may use the household's graph: its own and its members'."""
        return owner_key == HOUSEHOLD or self.identities.find(owner_key).is_member

    def name_of(self, owner_key: str) -> str:
        """Return the name that a member is registered by, "" of the household and of visitors."""
        return "" if owner_key == HOUSEHOLD else self.identities.find(owner_key).name

    async def of(self, owner_key: str) -> dict[str, str]:
        """Return an owner's own prompt modules (`agent.prompts` asks for them at each event)."""
        return self.settings.prompts(owner_key)

    def tool_calls(self, owner_key: str) -> int:
        """Return how many tool calls an event of theirs may use; the box's cap holds besides."""
        return int(self.settings.of(owner_key, TOOL_CALLS).value)

    async def set(self, owner_key: str, name: str, value: Value) -> None:
        """Keep a setting of theirs; it holds from their next event on. Raises what `OwnerSettings.set` raises."""
        await self.settings.set(owner_key, name, value)
        self._changed(owner_key)

    async def reset(self, owner_key: str, *names: str) -> None:
        """Take settings of theirs back, all where none is named. Raises what `OwnerSettings.reset` raises."""
        await self.settings.reset(owner_key, *names)
        self._changed(owner_key)

    def _changed(self, owner_key: str) -> None:
        for observer in self._observers:
            observer(owner_key)


def identities_of(state_folder: Path) -> Identities:
    """Return who is known here; for a command too, while the service runs."""
    return Identities(state_folder / "identities")


def tokens_of(state_folder: Path) -> Tokens:
    """Return the tokens of this box; for a command too, which sees the kept ones only."""
    return Tokens(state_folder / FOLDER)


def owner_of(identities: Identities, named: str) -> Identity:
    """Return who is meant by a key, a visitor's too, or by a member's name. Raises `Problem` where that is unclear."""
    if named == HOUSEHOLD:
        raise Problem(
            "the household's everything is the state folder; name a member, or a visitor by the key", Exit.USAGE
        )
    return identities.find(named) if is_public_key(named) else member_of(identities, named)


def member_of(identities: Identities, named: str) -> Identity:
    """Return the member who is meant by a key or a name. Raises `Problem` where that is nobody, or several."""
    found = [each for each in identities.members() if named in {each.name, each.owner_key}]
    if len(found) > 1:
        raise Problem(f"{len(found)} members are called {named}: name one by the key", Exit.USAGE)
    if not found:
        raise Problem(
            f"no member is called {named}; `nakari identity list` shows them, a visitor is named by the key",
            Exit.NO_INPUT,
        )
    return found[0]


def visitors_of(state_folder: Path, members: Collection[str]) -> dict[str, int]:
    """Return who has told its something or has a graph, and is no member; and how many events each has. Blocking.

    The database is looked at only, also while the service has it. Raises `StateUnreadable` when it cannot be read.
    """
    found = dict.fromkeys(keys_in(state_folder / "owners"), 0)
    database = state_folder / DATABASE
    if database.exists():
        with read_only(database) as connection:
            found |= dict(connection.execute("SELECT owner_key, count(*) FROM mailbox GROUP BY owner_key"))
    return {key: count for key, count in sorted(found.items()) if key != HOUSEHOLD and key not in members}


async def open_owners(state: State, state_folder: Path, most: int) -> Owners:
    """Read who is known, and what they have set. `most` tool calls are the box's cap, whatever an owner sets."""
    identities = identities_of(state_folder)

    def may_keep(owner_key: str) -> None:
        if owner_key != HOUSEHOLD:
            identities.require_member(owner_key)

    defaults: dict[str, Value] = dict.fromkeys([UNWANTED, *(f"{PROMPT}{module}" for module in MODULES)], "")
    ranges = {TOOL_CALLS: (1, most)}
    levels = Levels({"mind.max_tool_calls": most}, {TOOL_CALLS: most, **defaults}, ranges, {REMEMBERED: ""})
    settings = OwnerSettings(state.journal.database, levels, may_keep)
    await settings.load()
    return Owners(identities, settings, tokens_of(state_folder))
