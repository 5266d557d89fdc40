"""Where an engine is, and as whom to come to it."""

import ssl
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from memory.egress import SendsTo
from memory.engine.interface import TAKE_SECONDS, Engine, require_word
from memory.errors import EngineRefused

PORTS: Final = {"nats": 4222, "tls": 4222, "redis": 6379, "rediss": 6379}
"""The port of a URL that names none, by its scheme; of the schemes that there are."""

_SECURE: Final = {"tls", "rediss"}


class Login(Struct, frozen=True):
    """What proves to the server who one is; empty where it asks for nothing. At most one kind is used."""

    user: str = ""
    password: str = ""
    token: str = ""
    """Of NATS."""
    credentials: Path | None = None
    """Of NATS: a file with a JWT and a seed (.creds), or with a seed of an nkey alone (.nk)."""
    authority: Path | None = None
    """A file with the certificate that the server's is signed with; None for those that this machine trusts."""

    def __repr__(self) -> str:
        """Return it without what it proves itself by."""
        return f"Login({self.user!r})"


class Address(Struct, frozen=True):
    """A server's address, taken apart."""

    scheme: str
    host: str
    port: int
    user: str
    password: str

    def __repr__(self) -> str:
        """Return it without a login."""
        return f"Address({self.url!r})"

    @property
    def at(self) -> str:
        """Host and port."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        """With its scheme, without a login."""
        return f"{self.scheme}://{self.at}"

    @property
    def is_secure(self) -> bool:
        """Whether the connection is encrypted."""
        return self.scheme in _SECURE

    @property
    def sends_to(self) -> tuple[SendsTo, ...]:
        """What an engine there is handed: all of it."""
        return (SendsTo("what is said, done and remembered, to the household's other machines", self.at),)

    def trust(self, authority: Path | None) -> ssl.SSLContext | None:
        """Return what a secure connection checks the server by; None for one in the clear.

        Raises `EngineRefused` when the file of the authority cannot be used.
        """
        if not self.is_secure:
            return None
        try:
            return ssl.create_default_context(cafile=authority)
        except (OSError, ssl.SSLError) as error:
            what = f"the certificate {authority} of the engine's authority cannot be used ({error})"
            raise EngineRefused(f"{what}; give a file in PEM format that nakari may read") from None


def address(url: str) -> Address:
    """Return the parts of a URL; raises `EngineRefused` for one that is none of an engine's."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in PORTS or not parts.hostname or parts.path.strip("/"):
        kinds = "nats://HOST, tls://HOST, redis://HOST or rediss://HOST"
        raise EngineRefused(f"{_plain(url)!r} is no engine's URL; set [machines] url to one of {kinds}")
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    return Address(parts.scheme, parts.hostname, port or PORTS[parts.scheme], user, password)


def _plain(url: str) -> str:
    """Return a URL without a login in it."""
    scheme, separator, rest = url.rpartition("://")
    return f"{scheme}{separator}{rest.rpartition('@')[2]}"


def engine_at(url: str, household: str, login: Login, *, take_seconds: float = TAKE_SECONDS) -> Engine:
    """Return an engine, not opened yet, for one household: nats:// and tls:// are NATS, redis:// and rediss:// Redis.

    `take_seconds` is how long a message of an inbox that was taken stays in hand, alike on all machines. A user and
    a password in the URL count where `login` has none. Raises `EngineRefused` for another URL, or when the
    client's library is not installed; ValueError for a household that is no name.
    """
    server = address(url)
    require_word(household)
    try:
        if server.scheme in ("nats", "tls"):
            from memory.engine.nats.engine import NatsEngine

            return NatsEngine(server, household, login, take_seconds=take_seconds)
        from memory.engine.redis.engine import RedisEngine

        return RedisEngine(server, household, login, take_seconds=take_seconds)
    except ImportError as error:
        what = f"the client of {server.url} is not installed ({error.name} is missing)"
        raise EngineRefused(f"{what}; install nakari[machines]") from None
