"""nkeys, by which a NATS server knows who comes: Ed25519 keys in base32 (the package `nkeys` has no wheel)."""

import base64
import binascii
from pathlib import Path
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from msgspec import Struct
from nats.aio.client import Client

from memory.engine.access import Address, Login

_SEED: Final = 18 << 3
_USER: Final = 20 << 3
"""Prefix bytes of a seed and of a user's public key (nats-io/nkeys, strkey.go)."""

_KEY: Final = slice(2, 34)
"""Where the key lies in a seed, behind two bytes that say of whom it is; two of a checksum follow."""


def inbox_of(public: str) -> str:
    """Return the prefix of the subjects at which a user with this public key is answered, and nobody else."""
    return f"_INBOX.{public}"


class UserKey(Struct, frozen=True):
    """A user's key."""

    raw: bytes
    """32 bytes; the private key."""

    @classmethod
    def of_seed(cls, seed: str) -> "UserKey":
        """Return the key of a seed (S…). Raises ValueError for anything else."""
        whole = base64.b32decode(seed + "=" * (-len(seed) % 8))
        raw = whole[_KEY]
        if len(raw) != 32 or not whole[0] & 0xF8 == _SEED or _checked(whole[:-2]) != whole:
            raise ValueError("it is no seed of an nkey")
        return cls(raw)

    @property
    def seed(self) -> str:
        """What is kept, and shown to nobody."""
        return _text(bytes([_SEED | (_USER >> 5), (_USER & 31) << 3]) + self.raw)

    @property
    def public(self) -> str:
        """What a server's configuration names (U…)."""
        public = Ed25519PrivateKey.from_private_bytes(self.raw).public_key()
        return _text(bytes([_USER]) + public.public_bytes(Encoding.Raw, PublicFormat.Raw))

    def signed(self, nonce: str) -> bytes:
        """Return the signature of what a server asks to be signed, in base64."""
        return base64.b64encode(Ed25519PrivateKey.from_private_bytes(self.raw).sign(nonce.encode()))


def in_credentials(text: str) -> tuple[str, UserKey]:
    """Return the JWT and the key of a file of credentials (.creds). Raises ValueError where one is missing."""
    lines = [line.strip() for line in text.splitlines()]
    found = {}
    for what in ("NATS USER JWT", "USER NKEY SEED"):
        begin = next((place for place, line in enumerate(lines) if f"BEGIN {what}" in line), len(lines))
        found[what] = next(iter(lines[begin + 1 : begin + 2]), "")
    if not all(found.values()):
        raise ValueError("it has no JWT, or no seed")
    return found["NATS USER JWT"], UserKey.of_seed(found["USER NKEY SEED"])


def _checked(payload: bytes) -> bytes:
    return payload + binascii.crc_hqx(payload, 0).to_bytes(2, "little")


def _text(payload: bytes) -> str:
    return base64.b32encode(_checked(payload)).decode().rstrip("=")


def proof_of(login: Login, server: Address) -> dict[str, Any]:
    """Return the options of a client by which a server knows who comes, and the client the server.

    Whoever comes with a seed is answered where others cannot hear it. Raises ValueError for a file that holds none,
    OSError, `EngineRefused` where the file of the authority cannot be used.
    """
    file, proof = login.credentials, dict[str, Any]()
    if file is not None and file.suffix == ".nk":
        key = UserKey.of_seed(file.read_text(encoding="utf-8").strip())
        proof = {"nkeys_seed": str(file), "inbox_prefix": inbox_of(key.public)}
    elif file is not None:
        proof = {"user_credentials": str(file)}
    elif login.token:
        proof = {"token": login.token}
    elif login.user or server.user:
        proof = {"user": login.user or server.user, "password": login.password or server.password}
    if (trust := server.trust(login.authority)) is not None:
        proof |= {"tls": trust, "tls_hostname": server.host}
    return proof


class KeyedClient(Client):
    """A client that proves who comes by our own reading of seeds and credentials, not by the package `nkeys`.

    What was asked for before `flush` has come to the server when it returns. nats-py (2.16) writes the PING of a flush
    past what its flusher holds yet, so that a subscription can come after the PONG, and what is published then is lost.

    Given `nkeys_seed` or `user_credentials`, the path of a file; `connect` raises ValueError where it holds none,
    OSError.
    """

    def _setup_nkeys_connect(self) -> None:  # the only place where the client asks for that package
        if self._nkeys_seed is not None:
            key = UserKey.of_seed(Path(self._nkeys_seed).read_text(encoding="utf-8").strip())
            self._public_nkey = key.public
        else:
            jwt, key = in_credentials(Path(str(self._user_credentials)).read_text(encoding="utf-8"))
            self._user_jwt_cb = jwt.encode
        self._signature_cb = key.signed

    async def flush(self, timeout: int = 10) -> None:  # noqa: ASYNC109  as the client has it
        """Write all that is pending, then wait for the server's PONG. Raises as the client does."""
        await self._flush_pending(force_flush=True)
        await super().flush(timeout)
