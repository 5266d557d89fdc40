"""The line that lets one more machine into a household: where the server is, for whom, and a key for one time."""

import hashlib
import secrets
from dataclasses import dataclass, field
from typing import Final

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from appliance.config.network.machines import ROLES, SCHEMES, Role, wrong_household, wrong_name
from appliance.errors import Exit, Problem

SECONDS: Final = 600.0
"""For how long an invitation holds."""

_LETTERS: Final = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""Of a code; what is easily taken for another one is not among them."""

_KEY_LETTERS: Final = 14
"""Of the key: 70 bits, which only the server can be asked about, for `SECONDS`."""

_CHECK_LETTERS: Final = 2


@dataclass(frozen=True, slots=True)
class Invitation:
    """For one machine, once."""

    url: str
    """Of the server, without a login."""
    household: str
    name: str
    """What the machine will be called."""
    role: Role
    key: str
    """`_KEY_LETTERS` of `_LETTERS`."""
    seconds: float = field(default=SECONDS, compare=False)
    """For how long it holds, which the line does not say."""

    @classmethod
    def make(cls, url: str, household: str, name: str, role: Role, seconds: float = SECONDS) -> "Invitation":
        """Return one with a new key."""
        key = "".join(secrets.choice(_LETTERS) for _ in range(_KEY_LETTERS))
        return cls(url.rstrip("/"), household, name, role, key, seconds)

    def __str__(self) -> str:
        """Return the line to be typed; its last letters tell what was mistyped anywhere in it."""
        code = self.key + _checked(self._start, self.key)
        return f"{self._start}/{'-'.join(code[at : at + 4] for at in range(0, len(code), 4))}"

    @property
    def _start(self) -> str:
        return f"{self.url}/{self.household}/{self.name}/{self.role}"

    @property
    def seed(self) -> str:
        """The nkey seed that is shown to the server, derived from the key; it may do nothing but ask to be let in."""
        given = f"{self.household}/{self.name}".encode()
        from memory.engine.nats.nkeys import UserKey  # which loads the client of NATS

        return UserKey(HKDF(hashes.SHA256(), 32, b"nakari join", given).derive(self.key.encode())).seed


def is_invitation(line: str) -> bool:
    """Whether a line looks like an invitation, not like the URL of a server alone."""
    return line.strip().partition("://")[2].count("/") > 1


def read_invitation(line: str) -> Invitation:
    """Return what a line says. Raises `Problem` where it is none, or was mistyped."""
    given = line.strip()
    start, _, code = given.rpartition("/")
    code = code.upper().replace("-", "")
    parts = start.rsplit("/", 3)
    if not given.startswith(SCHEMES) or len(parts) != 4 or len(code) != _KEY_LETTERS + _CHECK_LETTERS:
        raise Problem(
            "this is no invitation; it looks like tls://server:4222/home/kitchen/ears/ABCD-EFGH-JKLM-NPQR, as "
            "`nakari machines invite` prints it",
            Exit.USAGE,
        )
    url, household, name, role = parts
    key = code[:_KEY_LETTERS]
    if _checked(start, key) != code[_KEY_LETTERS:]:
        raise Problem("the invitation is mistyped: its last letters do not fit the rest; type it again", Exit.USAGE)
    if role not in ROLES or wrong_household(household) or wrong_name(name):
        raise Problem("the invitation is of a newer nakari; update nakari on this machine", Exit.USAGE)
    return Invitation(url, household, name, role, key)


def new_seed() -> str:
    """Return the seed of a new nkey of a user."""
    from memory.engine.nats.nkeys import UserKey

    return UserKey(secrets.token_bytes(32)).seed


def public_of(seed: str) -> str:
    """Return the public nkey of a seed."""
    from memory.engine.nats.nkeys import UserKey

    return UserKey.of_seed(seed).public


def _checked(start: str, key: str) -> str:
    digest = hashlib.sha256(f"{start}/{key}".encode(errors="replace")).digest()
    return "".join(_LETTERS[each % len(_LETTERS)] for each in digest[:_CHECK_LETTERS])
