"""`nakari identity` as a person types it: a key for its owner's eyes, a member that lasts."""

import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from appliance.errors import Exit
from memory.identity import Identities, new_key, sign
from tests.appliance.command import environment, nakari, state_folder

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
    shown, signature = sign(file.read_bytes(), "5e" * 32)
    assert shown == key
    assert identities.prove(key, "5e" * 32, signature).name == "Ada"
    listed = nakari(tmp_path, "identity", "list").stdout.split()
    assert (listed[0], listed[2]) == (key, "Ada")
    [told] = json.loads(nakari(tmp_path, "identity", "list", "--json").stdout)["members"]
    assert (told["owner_key"], told["name"], told["created_at"][:2]) == (key, "Ada", "20")
    assert nakari(tmp_path, "identity", "list", "--visitors", "--json").stdout == '{"visitors": []}\n'


def test_a_private_key_that_is_there_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "Ada.key").write_text("precious")
    done = nakari(tmp_path, "identity", "create", "Ada")
    assert done.returncode == Exit.CANNOT_CREATE
    assert done.stderr == "nakari: Ada.key is there already; name another file with --key\n"
    assert (tmp_path / "Ada.key").read_text() == "precious"
    assert nakari(tmp_path, "identity", "list").stdout == ""


def test_a_key_that_the_disk_does_not_take_makes_nobody_a_member_and_leaves_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        ["sh", "-c", 'ulimit -f 0 && exec "$0" -m appliance identity create Ada', sys.executable],
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr.count("\n")) == (Exit.CANNOT_CREATE, 1), done.stderr
    assert f"the disk of {tmp_path} has no room for the key; free some disk space" in done.stderr
    assert not (tmp_path / "Ada.key").exists()
    assert nakari(tmp_path, "identity", "list").stdout == ""


def test_a_folder_that_takes_no_member_leaves_no_key(tmp_path: Path) -> None:
    state_folder(tmp_path).mkdir(parents=True)
    (state_folder(tmp_path) / "identities").write_text("no folder")
    done = nakari(tmp_path, "identity", "create", "Ada")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (Exit.CANNOT_CREATE, "", 1), done.stderr
    assert not (tmp_path / "Ada.key").exists()
    listed = nakari(tmp_path, "identity", "list")
    assert (listed.returncode, listed.stdout, listed.stderr.count("\n")) == (Exit.CANNOT_CREATE, "", 1), listed.stderr
    assert (
        "/identities cannot be read (Not a directory); restore them from a backup, or move that away" in listed.stderr
    )


def test_a_public_key_from_elsewhere_is_registered_and_removed(tmp_path: Path) -> None:
    _, key = new_key()
    done = nakari(tmp_path, "identity", "add", "Bob", key)
    assert (done.returncode, done.stdout, done.stderr) == (Exit.OK, f"{key}\n", "")
    assert list(tmp_path.glob("*.key")) == []
    again = nakari(tmp_path, "identity", "add", "Eve", key)
    assert (again.returncode, again.stdout, again.stderr) == (Exit.OK, f"{key}\n", "this key is Bob's already\n")
    gone = nakari(tmp_path, "identity", "remove", "Bob")
    assert (gone.returncode, gone.stdout) == (Exit.OK, "Bob is a visitor now.\n")
    assert nakari(tmp_path, "identity", "list").stdout == ""


@pytest.mark.parametrize("name", ["zoë", "ZOË", "zoe\u0308"])
def test_a_name_that_another_member_has_is_told(tmp_path: Path, name: str) -> None:
    Identities(state_folder(tmp_path) / "identities").register("zoë", new_key()[1])
    done = nakari(tmp_path, "identity", "add", name, new_key()[1])
    assert (done.returncode, "too: they are told apart by the key alone" in done.stderr) == (Exit.OK, True), done


def test_of_two_with_one_name_the_key_says_which(tmp_path: Path) -> None:
    identities = Identities(state_folder(tmp_path) / "identities")
    keys = [identities.register("Bob", new_key()[1]).owner_key for _ in range(2)]
    unclear = nakari(tmp_path, "identity", "remove", "Bob")
    assert unclear.returncode == Exit.USAGE
    assert "2 members are called Bob: name one by the key" in unclear.stderr
    assert nakari(tmp_path, "identity", "remove", keys[0]).returncode == Exit.OK
    assert [each.owner_key for each in identities.members()] == keys[1:]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("create", " "), Exit.USAGE, "there is nothing in it"),
        (("create", "household"), Exit.USAGE, "household is what all are called together; choose another name"),
        (("add", "x" * 300, "0" * 64), Exit.USAGE, "has at most 80 characters"),
        (("add", "Eve", "xyz"), Exit.USAGE, "64 hexadecimal digits"),
        (("add", " ", "0" * 64), Exit.USAGE, "there is nothing in it"),
        (("add", "Eve"), Exit.USAGE, "Missing argument 'KEY'"),
        (("remove", "Eve"), Exit.NO_INPUT, "no member is called Eve; `nakari identity list` shows them"),
        (("remove", "../.."), Exit.NO_INPUT, "no member is called ../.."),
    ],
)
def test_what_is_wrong_is_one_sentence(tmp_path: Path, arguments: tuple[str, ...], code: Exit, words: str) -> None:
    done = nakari(tmp_path, "identity", *arguments)
    assert (done.returncode, done.stderr.count("\n")) == (code, 1)
    assert words in done.stderr
    assert list(tmp_path.glob("*.key")) == []
