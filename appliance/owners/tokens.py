"""Tokens that say who asks over HTTP: kept ones that somebody made by a command, and issued ones that last an hour."""

import hashlib
import json
import re
import secrets
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import structlog
from msgspec import Struct

from agent.event import HOUSEHOLD
from memory.clock import Moment
from memory.durable import replace_durably, sync_folder
from memory.identity import is_public_key
from memory.json_value import read_json

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
    return hashlib.sha256(token.encode()).hexdigest()


def _read(file: Path) -> KeptToken | None:
    try:
        return read_json(file.read_bytes(), KeptToken)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:  # good for nothing until it is made anew
        log.error("token_unreadable", file=str(file), reason=str(error))  # noqa: TRY400
        return None
