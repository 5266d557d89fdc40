"""`nakari identity` as a person types it: a key for its owner's eyes, a member that lasts."""

import stat
from pathlib import Path

import pytest

from appliance.exits import Exit
from memory.identity import Identities, new_key, sign
from tests.appliance.command import nakari, state_folder

pytestmark = pytest.mark.shows("F17", "F13")


def test_it_makes_a_member_whose_key_proves_them_after_a_restart(tmp_path: Path) -> None:
    made = nakari(tmp_path, "identity", "create", "Ada")
    assert (made.returncode, made.stderr) == (
        Exit.OK,
        "the private key is in Ada.key; keep it, nobody else has it\n",
    )
    key = made.stdout.strip()
    file = tmp_path / "Ada.key"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    identities = Identities(state_folder(tmp_path) / "identities")
    challenge = identities.challenge()
    assert identities.prove(key, challenge, sign(file.read_bytes(), challenge)).name == "Ada"
    listed = nakari(tmp_path, "identity", "list").stdout.split()
    assert (listed[0], listed[2]) == (key, "Ada")


def test_a_private_key_that_is_there_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "Ada.key").write_text("precious")
    done = nakari(tmp_path, "identity", "create", "Ada")
    assert (done.returncode, done.stderr.count("\n")) == (Exit.CANNOT_CREATE, 1)
    assert (tmp_path / "Ada.key").read_text() == "precious"
    assert nakari(tmp_path, "identity", "list").stdout == ""


def test_a_public_key_from_elsewhere_is_registered(tmp_path: Path) -> None:
    _, key = new_key()
    done = nakari(tmp_path, "identity", "create", "Bob", "--public", key)
    assert (done.returncode, done.stdout, done.stderr) == (Exit.OK, f"{key}\n", "")
    assert not (tmp_path / "Bob.key").exists()
    wrong = nakari(tmp_path, "identity", "create", "Eve", "--public", "xyz")
    assert wrong.returncode == Exit.USAGE
    assert "64 hexadecimal digits" in wrong.stderr
