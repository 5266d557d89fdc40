"""Owners of events: the household, its members by key, visitors; their settings, and the tokens that speak for them."""

import hmac
import json
import re
import secrets
import time
from collections.abc import Callable, Collection, Iterator
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Final

import structlog
from msgspec import Struct

from agent.context.remembered import SETTING as REMEMBERED
from agent.event import HOUSEHOLD
from agent.prompts import MODULES
from agent.unasked.wishes import UNWANTED
from appliance.admin.exchange import DATABASE
from appliance.errors import Exit, Problem
from appliance.owners.visitors import keys_in
from appliance.wiring.memory.state import State
from memory.clock import Moment
from memory.durable import replace_durably, sync_folder
from memory.errors import NotProven
from memory.identity import Identities, Identity, is_public_key
from memory.json_value import read_json
from memory.state.owner_settings import PROMPT, Levels, OwnerSettings, Value
from memory.state.reader import read_only

FOLDER: Final = "tokens"
"""In the state folder: a backup takes it along, and a restore brings it back."""

HOUR: Final = 3600.0
"""Seconds that a token lasts which was given for a proof."""

MOST_OF_ONE: Final = 16
"""Issued tokens of an owner at a time; one more takes the place of their oldest, and of nobody else's."""

MOST: Final = 4096
"""Issued tokens of all owners at a time; one more takes the place of the oldest."""

_WRITTEN: Final = re.compile(r"nakari_[A-Za-z0-9_-]{43}")
"""A token: a word that a log can be searched for, and 256 random bits (RFC 4648, base64url)."""

log = structlog.get_logger()


class KeptToken(Struct, frozen=True):
    """A kept token, as far as it can be told: who has it, has the only copy."""

    name: str
    owner_key: str
    """Whose words come with it; `HOUSEHOLD`, or a public key."""
    created_at: Moment


class IssuedToken(Struct, frozen=True):
    """One that was given for a proof."""

    owner_key: str
    ends_at: float
    """Seconds on the clock of the `Tokens`."""
    name: str = ""


class Tokens:
    """The tokens of a box.

    Kept ones are one small file each, named by their SHA-256, so that a command needs no running service and is heard
    by it at once; issued ones are in memory and end with the process. A token is found by its SHA-256: how long that
    takes tells nothing of any token that there is.
    """

    def __init__(self, folder: Path, clock: Callable[[], float] = time.monotonic) -> None:
        """`folder` need not be there; `clock` is in seconds."""
        self._folder = folder
        self._clock = clock
        self._issued: dict[str, IssuedToken] = {}
        """By SHA-256, the oldest first."""

    def create(self, name: str, owner_key: str = HOUSEHOLD) -> str:
        """Return a new token that is good until it is revoked, durable on return; it is not to be had again.

        Raises `ValueError` for a name that cannot be read or is taken, or what is no owner; OSError.
        """
        if not name.strip() or not name.isprintable():
            raise ValueError("a token needs a name that can be read")
        if owner_key != HOUSEHOLD and not is_public_key(owner_key):
            raise ValueError("a token is the household's, or of a public key: 64 hexadecimal digits, in small letters")
        if any(each.name == name.strip() for each in self.list()):
            raise ValueError(f"there is a token called {name.strip()} already: revoke it, or choose another name")
        token = _new()
        told = {"name": name.strip(), "owner_key": owner_key, "created_at": datetime.now(UTC).isoformat()}
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_durably(self._file(_digest(token)), [json.dumps(told, ensure_ascii=False).encode()])
        return token

    def issue(self, owner_key: str, seconds: float = HOUR) -> str:
        """Return a new token of an owner that is good for so long, or until this process ends."""
        now = self._clock()
        self._issued = {digest: each for digest, each in self._issued.items() if each.ends_at > now}
        of_theirs = [digest for digest, each in self._issued.items() if each.owner_key == owner_key]
        if len(of_theirs) >= MOST_OF_ONE:
            del self._issued[of_theirs[0]]
        elif len(self._issued) >= MOST:
            del self._issued[next(iter(self._issued))]
        token = _new()
        self._issued[_digest(token)] = IssuedToken(owner_key, now + seconds)
        return token

    def find(self, token: str) -> KeptToken | IssuedToken | None:
        """Return whose token this is, None where it is nobody's, revoked, or too old. A look at one small file."""
        if not is_token(token):
            return None
        digest = _digest(token)
        issued = self._issued.get(digest)
        if issued is not None:
            return issued if issued.ends_at > self._clock() else None
        return _read(self._file(digest))

    def list(self) -> "list[KeptToken]":
        """Return the kept ones, by name."""
        return sorted((token for _, token in self._kept()), key=lambda each: (each.name, each.created_at))

    def revoke(self, name: str) -> bool:
        """Make a kept token good for nothing, durable on return; False where none is called so. Raises OSError."""
        return self._remove(lambda each: each.name == name) > 0

    def forget(self, owner_key: str) -> int:
        """Revoke all of an owner's, durable on return; return how many of the kept ones there were. Raises OSError."""
        self._issued = {digest: each for digest, each in self._issued.items() if each.owner_key != owner_key}
        return self._remove(lambda each: each.owner_key == owner_key)

    def _remove(self, is_meant: Callable[[KeptToken], bool]) -> int:
        gone = [file for file, token in self._kept() if is_meant(token)]
        for file in gone:
            file.unlink(missing_ok=True)
        if gone:
            sync_folder(self._folder)
        return len(gone)

    def _kept(self) -> Iterator[tuple[Path, KeptToken]]:
        for file in self._folder.glob("*.json"):
            if (token := _read(file)) is not None:
                yield file, token

    def _file(self, digest: str) -> Path:
        return self._folder / f"{digest}.json"


def is_token(text: str) -> bool:
    """Whether a text is written as a token is."""
    return _WRITTEN.fullmatch(text) is not None


def _new() -> str:
    return f"nakari_{secrets.token_urlsafe(32)}"


def _digest(token: str) -> str:
    return sha256(token.encode()).hexdigest()


def _read(file: Path) -> KeptToken | None:
    try:
        return read_json(file.read_bytes(), KeptToken)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:  # good for nothing until it is made anew
        log.error("token_unreadable", file=str(file), reason=str(error))  # noqa: TRY400
        return None


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
