from pathlib import Path

import pytest

from memory.errors import NotProven, RegistrationNeeded
from memory.identity import CHALLENGE_SECONDS, MOST_CHALLENGES, Identities, new_key, sign

pytestmark = pytest.mark.shows("F13", "F17")


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def identities(tmp_path: Path, clock: Clock) -> Identities:
    return Identities(tmp_path / "identities", clock)


def test_a_member_proves_who_they_are_also_after_a_restart(tmp_path: Path, identities: Identities) -> None:
    private, key = new_key()
    made = identities.register("Ada", key)
    again = Identities(tmp_path / "identities")
    challenge = again.challenge()
    assert again.prove(key, challenge, sign(private, challenge)) == made
    assert (made.name, made.owner_key, made.is_member) == ("Ada", key, True)
    assert again.members() == [made]


def test_an_unknown_key_that_signs_is_a_visitor_who_is_told_how_to_register(identities: Identities) -> None:
    private, key = new_key()
    challenge = identities.challenge()
    visitor = identities.prove(key, challenge, sign(private, challenge))
    assert (visitor.owner_key, visitor.is_member) == (key, False)
    with pytest.raises(RegistrationNeeded, match="`nakari identity create NAME`"):
        identities.require_member(key)


def test_a_signature_of_another_key_or_of_another_challenge_proves_nothing(identities: Identities) -> None:
    private, key = new_key()
    other, _ = new_key()
    identities.register("Ada", key)
    challenge = identities.challenge()
    with pytest.raises(NotProven, match="not this key's"):
        identities.prove(key, challenge, sign(other, challenge))
    with pytest.raises(NotProven, match="not this key's"):
        identities.prove(key, identities.challenge(), sign(private, identities.challenge()))
    for rubbish in ("", "zz", "00" * 64):
        with pytest.raises(NotProven):
            identities.prove(key, identities.challenge(), rubbish)
    with pytest.raises(NotProven):
        identities.prove("../../etc", identities.challenge(), "00" * 64)


def test_a_challenge_is_good_once_and_for_a_minute(identities: Identities, clock: Clock) -> None:
    private, key = new_key()
    challenge = identities.challenge()
    signature = sign(private, challenge)
    identities.prove(key, challenge, signature)
    with pytest.raises(NotProven, match="used or too old"):
        identities.prove(key, challenge, signature)
    late = identities.challenge()
    clock.now += CHALLENGE_SECONDS + 1
    with pytest.raises(NotProven, match="used or too old"):
        identities.prove(key, late, sign(private, late))


def test_challenges_are_bounded(identities: Identities) -> None:
    private, key = new_key()
    first = identities.challenge()
    for _ in range(MOST_CHALLENGES):
        identities.challenge()
    with pytest.raises(NotProven):
        identities.prove(key, first, sign(private, first))


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
