"""Identities by an Ed25519 key: members are registered with the box, everybody else is a visitor."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from unicodedata import normalize

import structlog
from msgspec import Struct

from memory.clock import Moment
from memory.durable import replace_durably, sync_folder
from memory.errors import NotProven, RegistrationNeeded, StateUnusable
from memory.json_value import read_json

PURPOSE: Final = b"nakari identity v1\n"
"""What is signed before the challenge, so that the signature is good for nothing else."""

HOW_TO_REGISTER: Final = (
    "you are a visitor here: you can talk, and nothing of yours is kept as a setting; "
    "`nakari identity add NAME KEY` on the box makes you a member"
)

OF_ALL: Final = "household"
"""The owner of all that is no member's (`agent.event.HOUSEHOLD`): a member of that name would be taken for it."""

LONGEST_NAME: Final = 80
"""Characters: it is spoken, and stands before what they say."""

_KEY: Final = re.compile(r"[0-9a-f]{64}")

log = structlog.get_logger()


def as_written(name: str) -> str:
    """Return a name as it is kept: composed, as two that look alike would be two."""
    return normalize("NFC", name.strip())


class Identity(Struct, frozen=True):
    """Somebody the box can tell from others."""

    owner_key: str
    """The public key: 64 hexadecimal digits."""
    name: str = ""
    """As it was registered; "" of a visitor."""
    created_at: datetime | None = None
    """Aware UTC; None of a visitor."""

    @property
    def is_member(self) -> bool:
        """Whether the box knows them."""
        return self.created_at is not None


class _Registered(Struct, frozen=True):
    """What is kept of a member, in a file that the key names."""

    name: str
    created_at: Moment


class Identities:
    """The members of a box, one small file each, so that the command needs no running service and waits for none.

    A proof is: ask for a challenge, sign it (`sign`), give key and signature back within a minute.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def register(self, name: str, owner_key: str) -> Identity:
        """Make a member of whoever has this key, durable on return; a known key keeps its first name.

        Raises `ValueError` for what is no public key or no name, `OSError` when it cannot be written.
        """
        if not name.strip() or not name.isprintable():
            raise ValueError("an identity needs a name that can be read")
        name = as_written(name)
        if len(name) > LONGEST_NAME:
            raise ValueError(f"an identity's name has at most {LONGEST_NAME} characters")
        if name.casefold() == OF_ALL:
            raise ValueError(f"{name} is what all are called together; choose another name")
        _check(owner_key)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        told = {"name": name, "created_at": datetime.now(UTC).isoformat(timespec="seconds")}
        if not self.find(owner_key).is_member:
            replace_durably(self._file(owner_key), [json.dumps(told, ensure_ascii=False).encode()])
        return self.find(owner_key)

    def find(self, owner_key: str) -> Identity:
        """Return who has this key: a member, or a visitor where it is not known here.

        A member whose file cannot be read is a visitor until they are registered again, which is logged.
        """
        if not is_public_key(owner_key) or not self._file(owner_key).is_file():
            return Identity(owner_key)
        try:
            told = read_json(self._file(owner_key).read_bytes(), _Registered)
            return Identity(owner_key, told.name, told.created_at)
        except (OSError, ValueError) as error:
            log.error("identity_unreadable", file=str(self._file(owner_key)), reason=str(error))  # noqa: TRY400
            return Identity(owner_key)

    def members(self) -> list[Identity]:
        """Return everybody who is registered, by name. Raises `StateUnusable` where the folder is none."""
        try:
            names = [file.stem for file in self._folder.iterdir() if file.suffix == ".json"]
        except FileNotFoundError:
            return []
        except OSError as error:
            what = f"the members in {self._folder} cannot be read ({error.strerror})"
            raise StateUnusable(f"{what}; restore them from a backup, or move that away") from error
        found = [self.find(name) for name in names]
        return sorted((each for each in found if each.is_member), key=lambda each: (each.name, each.owner_key))

    def remove(self, owner_key: str) -> bool:
        """Make a visitor of a member again, durable on return; False when they are none. What they set comes to rest.

        Raises `OSError` when it cannot be written.
        """
        if not is_public_key(owner_key) or not self._file(owner_key).is_file():
            return False
        self._file(owner_key).unlink(missing_ok=True)
        sync_folder(self._folder)
        return True

    def prove(self, owner_key: str, challenge: str, signature: str) -> Identity:
        """Return who signed the challenge, a member or a visitor. Raises `NotProven` for anything that proves nothing.

        `signature` is hexadecimal. Whoever gave the challenge takes no more than one answer to it, and in time.
        """
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        try:
            _check(owner_key)
            key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(owner_key))
            key.verify(bytes.fromhex(signature), PURPOSE + challenge.encode())
        except (ValueError, InvalidSignature) as error:
            raise NotProven("the signature is not this key's; sign the challenge with the key you show") from error
        return self.find(owner_key)

    def require_member(self, owner_key: str) -> Identity:
        """Return the member with this key. Raises `RegistrationNeeded`, which says how to become one."""
        found = self.find(owner_key)
        if not found.is_member:
            raise RegistrationNeeded(HOW_TO_REGISTER)
        return found

    def _file(self, owner_key: str) -> Path:
        return self._folder / f"{owner_key}.json"


def is_public_key(owner_key: str) -> bool:
    """Say whether an owner key can be somebody's; the household's is none."""
    return _KEY.fullmatch(owner_key) is not None


def new_key() -> tuple[bytes, str]:
    """Return a new private key as PEM (PKCS 8, without a password), and its public key as 64 hexadecimal digits."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate()
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return pem, key.public_key().public_bytes_raw().hex()


def sign(private_pem: bytes, challenge: str) -> tuple[str, str]:
    """Return the public key of a private one, and its signature of a challenge, hexadecimal both.

    What a member's program does. Raises ValueError for what is no Ed25519 key, or one behind a password.
    """
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(private_pem, None)
    except TypeError as error:
        raise ValueError("this key is behind a password, which nakari does not ask for") from error
    except (ValueError, UnsupportedAlgorithm) as error:
        raise ValueError("this is no private key (PEM)") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise ValueError("this is no Ed25519 key")  # noqa: TRY004  the value is a key, of another kind
    return key.public_key().public_bytes_raw().hex(), key.sign(PURPOSE + challenge.encode()).hex()


def _check(owner_key: str) -> None:
    if not is_public_key(owner_key):
        raise ValueError("a public key is 64 hexadecimal digits, in small letters")
