"""`nakari token` as a person types it: shown once, kept as a digest, heeded by whoever reads the folder."""

import json
from pathlib import Path

import pytest

from agent.event import HOUSEHOLD
from appliance.errors import Exit
from appliance.owners.owners import tokens_of
from memory.identity import Identities, new_key
from tests.appliance.command import nakari, state_folder

pytestmark = pytest.mark.shows("F25")


def test_a_token_is_shown_once_named_in_the_list_and_good_until_it_is_revoked(tmp_path: Path) -> None:
    made = nakari(tmp_path, "token", "create", "phone")
    assert (made.returncode, made.stderr) == (Exit.OK, "keep it: it is not shown again\n")
    token, tokens = made.stdout.strip(), tokens_of(state_folder(tmp_path))
    assert (found := tokens.find(token)) is not None
    assert found.owner_key == HOUSEHOLD
    listed = nakari(tmp_path, "token", "list").stdout
    assert listed.split()[0] == "phone"
    assert token not in listed
    [told] = json.loads(nakari(tmp_path, "token", "list", "--json").stdout)["tokens"]
    assert (told["name"], told["owner_key"], set(told)) == ("phone", HOUSEHOLD, {"name", "owner_key", "created_at"})
    again = nakari(tmp_path, "token", "create", "phone")
    assert (again.returncode, "called phone already" in again.stderr) == (Exit.USAGE, True)
    assert nakari(tmp_path, "token", "revoke", "phone").stdout == "phone is good for nothing now.\n"
    assert tokens.find(token) is None
    assert nakari(tmp_path, "token", "list", "--json").stdout == '{"tokens": []}\n'
    assert nakari(tmp_path, "token", "revoke", "phone").returncode == Exit.NO_INPUT


def test_a_token_may_be_a_members_or_a_visitors(tmp_path: Path) -> None:
    _, ada = new_key()
    _, visitor = new_key()
    Identities(state_folder(tmp_path) / "identities").register("Ada", ada)
    tokens = tokens_of(state_folder(tmp_path))
    for name, owner, key in (("one", "Ada", ada), ("two", visitor, visitor), ("three", "household", HOUSEHOLD)):
        made = nakari(tmp_path, "token", "create", name, "--owner", owner)
        assert (found := tokens.find(made.stdout.strip())) is not None
        assert found.owner_key == key
    assert nakari(tmp_path, "token", "create", "four", "--owner", "nobody").returncode == Exit.NO_INPUT
