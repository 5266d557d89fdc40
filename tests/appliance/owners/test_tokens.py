import stat
from pathlib import Path

import pytest

from agent.event import HOUSEHOLD
from appliance.owners.owners import MOST, MOST_OF_ONE, Tokens

pytestmark = pytest.mark.shows("F25")

ADA = "ad" * 32
BOB = "b0" * 32


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def tokens(tmp_path: Path, clock: Clock) -> Tokens:
    return Tokens(tmp_path / "tokens", clock)


def owner_of(tokens: Tokens, token: str) -> str | None:
    found = tokens.find(token)
    return None if found is None else found.owner_key


def test_a_token_names_its_owner_also_after_a_restart_and_until_it_is_revoked(tmp_path: Path, tokens: Tokens) -> None:
    phone, script = tokens.create("phone", ADA), tokens.create("script")
    again = Tokens(tmp_path / "tokens")
    assert (owner_of(again, phone), owner_of(again, script)) == (ADA, HOUSEHOLD)
    assert [(each.name, each.owner_key) for each in again.list()] == [("phone", ADA), ("script", HOUSEHOLD)]
    assert again.revoke("phone")
    assert owner_of(tokens, phone) is None
    assert not again.revoke("phone")


def test_nothing_on_the_disk_is_a_token_or_for_others_to_read(tmp_path: Path, tokens: Tokens) -> None:
    token = tokens.create("phone", ADA)
    (file,) = (tmp_path / "tokens").iterdir()
    assert token not in file.read_text() + file.name
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_what_is_no_token_is_nobodys(tokens: Tokens) -> None:
    token = tokens.create("phone", ADA)
    for wrong in [
        "",
        "x",
        token[:-1],
        f"{token}x",
        f"{token}\n",
        token.upper(),
        "nakari_" + "../" * 14 + "a",
        "é" * 50,
    ]:
        assert owner_of(tokens, wrong) is None


def test_a_name_is_taken_once_and_an_owner_is_one(tokens: Tokens) -> None:
    tokens.create("phone")
    with pytest.raises(ValueError, match="called phone already"):
        tokens.create(" phone ")
    with pytest.raises(ValueError, match="can be read"):
        tokens.create("\n")
    with pytest.raises(ValueError, match="public key"):
        tokens.create("other", "somebody")


def test_an_issued_token_is_good_for_its_time_and_leaves_nothing_behind(
    tmp_path: Path, tokens: Tokens, clock: Clock
) -> None:
    token = tokens.issue(ADA, 60)
    assert owner_of(tokens, token) == ADA
    assert not (tmp_path / "tokens").exists()
    clock.now = 60.0
    assert owner_of(tokens, token) is None


def test_many_tokens_of_one_push_out_nobody_elses(tokens: Tokens) -> None:
    of_ada = tokens.issue(ADA)
    of_bob = [tokens.issue(BOB) for _ in range(MOST_OF_ONE + 1)]
    assert owner_of(tokens, of_ada) == ADA
    assert [owner_of(tokens, each) for each in of_bob] == [None, *[BOB] * MOST_OF_ONE]


def test_issued_tokens_are_bounded(tokens: Tokens) -> None:
    issued = [tokens.issue(f"{number:064x}") for number in range(MOST + 1)]
    assert [owner_of(tokens, issued[0]), owner_of(tokens, issued[1])] == [None, f"{1:064x}"]


def test_an_owner_who_is_forgotten_has_no_token_left(tokens: Tokens) -> None:
    gone = [tokens.create("phone", ADA), tokens.issue(ADA)]
    stays = [tokens.create("laptop", BOB), tokens.issue(BOB), tokens.create("script")]
    assert tokens.forget(ADA) == 1
    assert [owner_of(tokens, each) for each in gone] == [None, None]
    assert [owner_of(tokens, each) for each in stays] == [BOB, BOB, HOUSEHOLD]


def test_a_file_that_cannot_be_read_is_no_token(tmp_path: Path, tokens: Tokens) -> None:
    token = tokens.create("phone", ADA)
    (file,) = (tmp_path / "tokens").iterdir()
    file.write_text("{")
    assert owner_of(tokens, token) is None
    assert tokens.list() == []
