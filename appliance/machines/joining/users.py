"""The household's machines as users of a NATS server: a file that its configuration includes, one machine a line.

Each household has an account of its own, so that nothing of another one can be named, and the file is the account's
`users`. A machine with the mind may do all in that account. Ears may do what ears need: put turns into the inbox of the
mind, publish, and be asked; they cannot read the log, the keys, the snapshots or the inbox. An invitation may ask to be
let in under its name and nothing else. (docs.nats.io: accounts, authorization, nkeys, configuration includes.)
"""

import json
import shlex
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict

from appliance.config.network.machines import Role
from appliance.errors import ConfigError, Exit, Problem
from appliance.machines.wire import INBOX
from memory.durable import replace_durably

RELOAD: Final = "systemctl reload nats-server"
"""How Debian's server reads its configuration anew; what it keeps connected stays connected."""

_STREAMS: Final = ("{}_log", "KV_{}_keys", "OBJ_{}_blobs", "OBJ_{}_parts", f"{{}}_inbox_{INBOX}")
"""Whose being there an engine looks after when it connects."""

_MARK: Final = "  # nakari: "
_FIRST: Final = "# Written by nakari (`nakari machines`). Include it in the household's account of nats-server.\n"


class User(Struct, frozen=True):
    """A machine that was let in, or an invitation."""

    name: str
    role: Role
    key: str
    """Its public nkey."""
    until: float = 0.0
    """When an invitation ends, in seconds since 1970; 0 of a machine."""


class UsersFile:
    """The file, read and written whole; whoever may write it decides who belongs to the household."""

    def __init__(self, path: Path, household: str, reload: str = RELOAD) -> None:
        """`reload` is the command by which the server reads its configuration anew, without a shell."""
        self.path = path
        self._household = household
        self._reload = shlex.split(reload)

    def read(self) -> tuple[User, ...]:
        """Return all, in the order in which they came. Raises `ConfigError` where it is not nakari's or damaged."""
        try:
            text = self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return ()
        if text.strip() in ("", "users = []"):
            return ()
        if not text.startswith(_FIRST):
            raise ConfigError(f"{self.path} was not written by nakari; name a new file in [machines] users")
        try:
            marked = [line.removeprefix(_MARK) for line in text.splitlines() if line.startswith(_MARK)]
            return tuple(User(**json.loads(line)) for line in marked)
        except (ValueError, TypeError) as error:
            raise ConfigError(f"{self.path} is damaged ({error}); take it from a backup") from error

    def write(self, users: Iterable[User]) -> None:
        """Replace the file, and have the server read it. Raises OSError, `Problem` where the server was not told."""
        self._replace(users)
        if failure := self._told():
            raise Problem(f"{self.path} is written, but {failure}", Exit.UNAVAILABLE)

    def admit(self, users: Iterable[User]) -> None:
        """Do as `write`, but leave the file as it was where the server was not told: it would know a machine later.

        Raises OSError, `Problem`.
        """
        before = self.read()
        self._replace(users)
        if failure := self._told():
            self._replace(before)
            raise Problem(f"nobody is let in: {failure}", Exit.UNAVAILABLE)

    def _replace(self, users: Iterable[User]) -> None:
        lines = [line for user in users for line in (_MARK + json.dumps(asdict(user)), f"  {self._entry(user)}")]
        text = _FIRST + "\n".join(["users = [", *lines, "]"]) + "\n"
        # The server has a user of its own, and there is nothing secret in it: public keys.
        replace_durably(self.path, [text.encode()], 0o644)

    def _told(self) -> str:
        """Have the server read the file; return why that failed, "" where it did not."""
        try:
            subprocess.run(self._reload, check=True, capture_output=True, text=True, timeout=30)
        except (OSError, subprocess.SubprocessError) as error:
            said = (getattr(error, "stderr", "") or str(error)).strip().splitlines()
            why = said[-1] if said else error
            return f"`{shlex.join(self._reload)}` failed ({why}); name another command with --reload"
        return ""

    def _entry(self, user: User) -> str:
        permissions = permissions_of(user, self._household)
        told = f", permissions: {json.dumps(permissions)}" if permissions else ""
        return f"{{ nkey: {user.key}{told} }}"


def permissions_of(user: User, household: str) -> dict[str, object]:
    """Return what a user may publish and subscribe to, as nats-server.conf has it; {} is the whole account."""
    if user.until:
        return _allowed([joining_subject(household, user.name)], [f"{joining_inbox(user.name)}.>"])
    if user.role != "ears":
        return {}
    from memory.engine.nats.nkeys import inbox_of

    subject, stream = f"nakari.{household}", f"nakari_{household}"
    asked = [f"{subject}.{kind}.ears.{user.name}" for kind in ("topic", "ask")]
    publish = [
        f"{subject}.inbox.{INBOX}",
        f"{subject}.topic.>",
        "$JS.API.INFO",
        *(f"$JS.API.STREAM.INFO.{each.format(stream)}" for each in _STREAMS),
        f"$JS.API.CONSUMER.CREATE.{stream}_inbox_{INBOX}.>",
        f"$JS.API.CONSUMER.DURABLE.CREATE.{stream}_inbox_{INBOX}.>",
    ]
    allowed = _allowed(publish, [*asked, f"{subject}.topic.presence", f"{inbox_of(user.key)}.>"])
    return {**allowed, "allow_responses": {"max": 1000, "expires": "1m"}}


def joining_subject(household: str, name: str) -> str:
    """Return where a machine with an invitation asks to be let in."""
    return f"nakari.{household}.join.{name}"


def joining_inbox(name: str) -> str:
    """Return the prefix of the subjects at which it is answered; that of others it cannot hear."""
    return f"_JOIN.{name}"


def _allowed(publish: Sequence[str], subscribe: Sequence[str]) -> dict[str, object]:
    return {"publish": {"allow": [*publish]}, "subscribe": {"allow": [*subscribe]}}
