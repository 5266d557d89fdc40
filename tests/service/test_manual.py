"""The manual's examples, typed one after the other by somebody who has just made a clone: none of them misleads."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.appliance.command import environment
from tests.architecture.documents import commands
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
    ("doctor",): "takes long: tests/appliance/cli/test_cli.py",
    ("forget", "--everything"): "asks on a terminal: tests/service/test_forget_owner.py",
    ("models", "list", "--measure"): "measures a model that is here: tests/appliance/cli/test_models_command.py",
    ("say", "dinner is ready"): "needs a loudspeaker: tests/service/test_offline_voice.py",
    ("run",): "goes on until it is stopped: tests/service/test_room.py",
    ("models", "pull"): "fetches: tests/appliance/cli/test_models_command.py",
    ("model", "use"): "a model of the catalog: tests/service/test_model_use.py",
    ("logs",): "reads the journal of this machine: tests/appliance/logs/test_logs_service.py",
}
NO_SERVICE = "no nakari is running"


def examples() -> list[list[str]]:
    """Return the arguments of each example of the pages, in their order, but for those that are not typed."""
    typed = [list(each.words) for page in PAGES for each in commands(page) if each.is_example]
    ours = [words[1:] for words in typed if words[0] == "nakari"]
    return [words for words in ours if not any(tuple(words[: len(left)]) == left for left in NOT_TYPED)]


@pytest.mark.skipif(missing_programs("espeak-ng") is not None, reason="not installed: espeak-ng")
@pytest.mark.shows("H1", "H6")
def test_the_examples_of_the_manual_work(tmp_path: Path) -> None:
    (tmp_path / "n.toml").write_text(LOCAL, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        env=environment(tmp_path, NAKARI_CONFIG=str(tmp_path / "n.toml")),
        input=json.dumps(examples()),
        capture_output=True,
        text=True,
        check=False,
    )
    ended = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line for line, *_ in ended] == examples(), done.stderr
    wrong = {" ".join(line): (code, told) for line, code, _, told in ended if not went_well(line, code, told)}
    assert wrong == {}
    assert len([code for _, code, *_ in ended if code == 0]) > 20


def went_well(line: list[str], code: int, told: str) -> bool:
    """Say whether an example did what it should where no service runs."""
    is_checking = line[0] in ("devices", "doctor")  # they judge this machine
    return code == 0 or (code == 69 and NO_SERVICE in told) or (code == 1 and is_checking)
