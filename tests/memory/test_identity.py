from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from agent.event import HOUSEHOLD
from memory.errors import NotProven, RegistrationNeeded
from memory.identity import Identities, new_key, sign

pytestmark = pytest.mark.shows("F13", "F17")


CHALLENGE = "5e" * 32


@pytest.fixture
def identities(tmp_path: Path) -> Identities:
    return Identities(tmp_path / "identities")


def proof(private: bytes, challenge: str = CHALLENGE) -> str:
    return sign(private, challenge)[1]


def test_a_member_proves_who_they_are_also_after_a_restart(tmp_path: Path, identities: Identities) -> None:
    private, key = new_key()
    made = identities.register("Ada", key)
    again = Identities(tmp_path / "identities")
    assert sign(private, CHALLENGE)[0] == key
    assert again.prove(key, CHALLENGE, proof(private)) == made
    assert (made.name, made.owner_key, made.is_member) == ("Ada", key, True)
    assert again.members() == [made]


def test_an_unknown_key_that_signs_is_a_visitor_who_is_told_how_to_register(identities: Identities) -> None:
    private, key = new_key()
    visitor = identities.prove(key, CHALLENGE, proof(private))
    assert (visitor.owner_key, visitor.is_member) == (key, False)
    with pytest.raises(RegistrationNeeded, match="`nakari identity add NAME KEY`"):
        identities.require_member(key)


def test_a_signature_of_another_key_or_of_another_challenge_proves_nothing(identities: Identities) -> None:
    private, key = new_key()
    other, _ = new_key()
    identities.register("Ada", key)
    with pytest.raises(NotProven, match="not this key's"):
        identities.prove(key, CHALLENGE, proof(other))
    with pytest.raises(NotProven, match="not this key's"):
        identities.prove(key, CHALLENGE, proof(private, "5f" * 32))
    for rubbish in ("", "zz", "00" * 64, "é" * 128, proof(private)[:-2]):
        with pytest.raises(NotProven):
            identities.prove(key, CHALLENGE, rubbish)
    for nobody in ("../../etc", "", key.upper(), "f" * 64, "household"):
        with pytest.raises(NotProven):
            identities.prove(nobody, CHALLENGE, proof(private))


def test_who_is_removed_is_a_visitor_and_may_come_back(identities: Identities) -> None:
    _, key = new_key()
    identities.register("Ada", key)
    assert identities.remove(key)
    assert not identities.remove(key)
    assert not identities.remove("../identities")
    assert not identities.find(key).is_member
    assert identities.members() == []
    assert identities.register("Eve", key).name == "Eve"


@pytest.mark.parametrize(
    ("key", "words"),
    [
        (b"", "no private key"),
        (b"-----BEGIN PRIVATE KEY-----\nrubbish\n-----END PRIVATE KEY-----\n", "no private key"),
        (bytes(10_000), "no private key"),
    ],
)
def test_what_is_no_private_key_signs_nothing(key: bytes, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        sign(key, "x")


def test_another_kind_of_key_and_one_behind_a_password_are_named() -> None:
    other = ec.generate_private_key(ec.SECP256R1())
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8)
    with pytest.raises(ValueError, match="no Ed25519 key"):
        sign(other.private_bytes(*form, serialization.NoEncryption()), "x")
    with pytest.raises(ValueError, match="behind a password"):
        sign(other.private_bytes(*form, serialization.BestAvailableEncryption(b"secret")), "x")


def test_a_known_key_keeps_its_first_name(identities: Identities) -> None:
    _, key = new_key()
    first = identities.register("Ada", key)
    assert identities.register("Eve", key) == first
    assert len(identities.members()) == 1


@pytest.mark.parametrize(("name", "key"), [("", "0" * 64), ("a\nb", "0" * 64), ("Ada", "0" * 63), ("Ada", "../x")])
def test_what_is_no_name_or_no_key_is_refused(identities: Identities, name: str, key: str) -> None:
    with pytest.raises(ValueError, match=r"name|hexadecimal"):
        identities.register(name, key)
    assert identities.members() == []


@pytest.mark.parametrize("name", [HOUSEHOLD, " Household "])
def test_nobody_is_called_what_all_are_together(identities: Identities, name: str) -> None:
    with pytest.raises(ValueError, match="what all are called together; choose another name"):
        identities.register(name, "0" * 64)


@pytest.mark.parametrize("damage", [b"", b"\xff\xff", b"[]", b'{"name": "Ada"}'])
def test_a_member_whose_file_is_damaged_is_a_visitor_until_they_are_registered_again(
    tmp_path: Path, identities: Identities, damage: bytes
) -> None:
    _, key = new_key()
    identities.register("Ada", key)
    (tmp_path / "identities" / f"{key}.json").write_bytes(damage)
    assert not identities.find(key).is_member
    assert identities.members() == []
    assert identities.register("Ada", key).is_member
    (tmp_path / "identities" / f"{key}.json").write_bytes(damage)
    assert identities.remove(key)
    assert not identities.remove(key)
