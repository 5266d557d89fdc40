"""The manual's examples, typed one after the other by somebody who has just made a clone: none of them misleads."""

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.appliance.command import environment
from tests.architecture.documents import FRONT, blocks, commands, programs
from tests.needs import missing_programs

PAGES = (Path("docs/manual.md"), Path("docs/privacy.md"), Path("docs/operation.md"))
"""In the order in which they are read."""

PROGRAM = """
import contextlib, io, json, sys
from appliance.cli.main import main

for line in json.load(sys.stdin):
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8")
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(line)
    told = [each.buffer.getvalue().decode() for each in (out, err) if not each.flush()]
    print(json.dumps([line, int(code), *told]), flush=True)
"""
"""One process for all: what each command imports is imported once."""

LOCAL = """
[voice]
engine = "espeak"
[ears]
download = false
[model]
provider = "offline"
"""
"""Nothing of it leaves the machine."""

NOT_TYPED = {
    ("ask", "-"): "reads standard input: tests/appliance/cli/talk/test_conversation.py",
    ("chat",): "reads line after line: tests/appliance/cli/talk/test_conversation.py",
    ("doctor",): "takes long: tests/appliance/cli/test_cli.py",
    ("events", "cancel"): "of an event that waits: tests/appliance/cli/remember/test_events_command.py",
    ("events", "move"): "of an event that waits: tests/appliance/cli/remember/test_events_command.py",
    ("forget",): "asks on a terminal: tests/service/test_forget_command.py",
    ("models", "list", "--measure"): "measures a model that is here: tests/appliance/cli/choose/test_models_command.py",
    ("say", "dinner is ready"): "needs a loudspeaker: tests/service/test_offline_voice.py",
    ("run",): "goes on until it is stopped: tests/service/test_room.py",
    ("models", "pull"): "fetches: tests/appliance/cli/choose/test_models_command.py",
    ("model", "use"): "a model of the catalog: tests/service/test_model_use.py",
    ("logs",): "reads the journal of this machine: tests/appliance/logs/test_logs_service.py",
}
NO_SERVICE = "no nakari is running"


class Ended(NamedTuple):
    """One command, ended."""

    words: list[str]
    code: int
    out: str
    error: str


def examples() -> list[list[str]]:
    """Return the arguments of each example of the pages, in their order, but for those that are not typed."""
    typed = [list(each.words) for page in PAGES for each in commands(page) if each.is_example]
    ours = [words[1:] for words in typed if words[0] == "nakari"]
    return [words for words in ours if not any(tuple(words[: len(left)]) == left for left in NOT_TYPED)]


def session() -> dict[tuple[str, ...], str]:
    """Return what README's session types after the demo, and what it says came of it."""
    (shown,) = blocks(FRONT, "console")
    typed = (part.partition("\n") for part in shown.removeprefix("$ ").split("\n$ "))
    return {words[1:]: told for line, _, told in typed for words in programs(line) if words[1:] != ("demo",)}


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> list[Ended]:
    """What came of README's session and of the examples: their words, exit code, output and errors."""
    if reason := missing_programs("espeak-ng"):
        pytest.skip(reason)
    home = tmp_path_factory.mktemp("home")
    (home / "n.toml").write_text(LOCAL, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=home,
        env=environment(home, NAKARI_CONFIG=str(home / "n.toml")),
        input=json.dumps([*session(), *examples()]),
        capture_output=True,
        text=True,
        check=False,
    )
    told = [Ended(*json.loads(line)) for line in done.stdout.splitlines()]
    assert len(told) == len(session()) + len(examples()), done.stderr
    return told


@pytest.mark.shows("H1", "H6")
def test_readme_s_session_is_what_is_answered(ended: list[Ended]) -> None:
    assert len(session()) >= 3
    assert {tuple(each.words): each.out.strip() for each in ended[: len(session())]} == {
        words: told.strip() for words, told in session().items()
    }


@pytest.mark.shows("H1", "H6")
def test_the_examples_of_the_manual_work(ended: list[Ended]) -> None:
    assert [f"{' '.join(each.words)}: {each.code} {each.error}" for each in ended if not went_well(each)] == []
    assert len([each for each in ended if each.code == 0]) > 20


def went_well(each: Ended) -> bool:
    """Say whether an example did what it should where no service runs."""
    is_checking = each.words[0] == "devices"  # it judges this machine
    needs_a_device = each.words[0] == "satellite"  # and none stands here, nor is one paired
    is_away = (each.code == 69 and NO_SERVICE in each.error) or (each.code in (66, 69) and needs_a_device)
    is_of_none = each.code == 66 and each.words[-1] == "ID"  # `mailbox` looks by itself, and finds no such event
    return each.code == 0 or is_away or is_of_none or (each.code == 1 and is_checking)
