"""`nakari ask --as`, `nakari settings`: through the running service, and by themselves where none runs."""

import json
import subprocess
from pathlib import Path

import pytest

from appliance.errors import Exit
from memory.identity import new_key
from tests.service.process import Household

pytestmark = pytest.mark.shows("F13", "F14", "F16")

PIRATE = ("settings", "set", "prompt.persona", "You are a pirate.")


@pytest.fixture
def home(tmp_path: Path) -> Household:
    return Household(tmp_path)


def refused(done: subprocess.CompletedProcess[str], code: Exit, words: str) -> bool:
    """Whether it ended in one sentence for a person, with this code."""
    said = (done.returncode, done.stderr.count("\n"), done.stdout) == (code, 1, "")
    return said and done.stderr.startswith("nakari: ") and words in done.stderr


def listed(home: Household, *arguments: str) -> dict[str, dict[str, object]]:
    done = home.run("settings", "list", "--json", *arguments)
    assert done.returncode == Exit.OK, done.stderr
    found: dict[str, dict[str, object]] = json.loads(done.stdout)
    return found


def test_a_member_asks_and_sets_through_the_running_service_and_keeps_it(home: Household, tmp_path: Path) -> None:
    key = ("--as", str(tmp_path / "ada.key"))
    stranger = tmp_path / "stranger.key"
    stranger.write_bytes(new_key()[0])
    with home.running("run", "--output", str(tmp_path / "out.wav")) as service:
        service.until("service_started")
        owner = home.run("identity", "create", "Ada", "--key", key[1]).stdout.strip()
        for arguments in (key, ("--as", str(stranger)), ()):
            assert home.run("ask", "what time is it", *arguments).returncode == Exit.OK
        done = home.run(*PIRATE, *key)
        assert (done.returncode, done.stdout) == (Exit.OK, "prompt.persona is yours from your next event on.\n")
        assert refused(home.run(*PIRATE, "--as", str(stranger)), Exit.NOT_ALLOWED, "`nakari identity add NAME KEY`")
        assert service.stop() == 0
    asked = home.rows("SELECT owner_key FROM mailbox WHERE type = 'user_text' ORDER BY arrival")
    assert asked[0] == (owner,)
    assert asked[2] == ("household",)
    assert len(set(asked)) == 3
    assert listed(home, *key)["prompt.persona"] == {"value": "You are a pirate.", "level": "owner"}
    assert listed(home)["prompt.persona"] == {"value": "", "level": "default"}


@pytest.mark.shows("D15")
def test_without_a_service_the_household_s_are_set_and_reset_all_the_same(home: Household) -> None:
    assert home.run(*PIRATE).returncode == Exit.OK
    shown = home.run("settings").stdout.splitlines()
    assert [line.split(maxsplit=2) for line in shown] == [
        ["announcements.unwanted", "default", "as shipped"],
        ["mind.max_tool_calls", "system", "10"],
        ["mind.tool_calls", "default", "10"],
        ["prompt.persona", "owner", "You are a pirate."],
        ["prompt.system", "default", "as shipped"],
        ["prompt.tools", "default", "as shipped"],
        ["memory.remember_at_start", "agent", "nothing yet"],
    ]
    done = home.run("settings", "reset", "--json")
    assert json.loads(done.stdout) == {"done": "Everything is as it was before you set it."}
    assert listed(home)["prompt.persona"]["level"] == "default"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("settings", "set", "prompt.nonsense", "x"), Exit.USAGE, "there is no setting 'prompt.nonsense'"),
        (("settings", "set", "mind.tool_calls", "99"), Exit.USAGE, "is a whole number from 1 to 10"),
        (("settings", "set", "mind.tool_calls", "many"), Exit.USAGE, "mind.tool_calls is a whole number"),
        (("settings", "set", " ", "x"), Exit.USAGE, "'NAME': there is nothing in it"),
        (("settings", "list", "--as", "HERE/missing.key"), Exit.NO_INPUT, "missing.key cannot be read: No such file"),
        (("settings", "list", "--as", "HERE"), Exit.NO_INPUT, "cannot be read: Is a directory"),
        (("ask", "hi", "--as", "/dev/zero"), Exit.NO_INPUT, "/dev/zero: this is no private key (PEM)"),
        (("ask", "hi", "--as", "HERE/ada.key"), Exit.UNAVAILABLE, "no nakari is running"),
    ],
)
def test_what_cannot_be_is_one_sentence(home: Household, arguments: tuple[str, ...], code: Exit, words: str) -> None:
    (home.folder / "ada.key").write_bytes(new_key()[0])
    assert refused(home.run(*(each.replace("HERE", str(home.folder)) for each in arguments)), code, words)
