"""`nakari models` as a process, against a server that speaks the hub's protocol."""

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.errors import INTERRUPTED, Exit
from appliance.model.sentence import NAME
from audio.recognizer.models.catalog import MEGABYTES, WEIGHTS, find_model
from audio.recognizer.models.speed import BOUND
from tests.appliance.command import environment, nakari, state_folder
from tests.audio.hub_server import OF_TINY, Hub, Refusal, serving
from tests.audio.spoken import HOUSEHOLD_WHISPER

BOTH = {"Systran/faster-whisper-tiny": OF_TINY, "Systran/faster-whisper-base": OF_TINY}


@pytest.fixture
def hub() -> Iterator[Hub]:
    with serving(Hub(BOTH)) as hub:
        yield hub


def models(home: Path) -> Path:
    return state_folder(home) / "models"


def pull(home: Path, hub: Hub, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    return nakari(home, "models", "pull", *arguments, HF_ENDPOINT=hub.address, **more)


def of_one_thread(home: Path) -> dict[str, str]:
    """Return what has every command measure one number of threads: each more takes as long again."""
    (home / "thread.toml").write_text("[ears]\nthreads = 1\n", encoding="utf-8")
    return {"NAKARI_CONFIG": str(home / "thread.toml")}


def rows(home: Path, **more: str) -> dict[str, str]:
    """Return what the list says of each model, and its last line under ""."""
    lines = nakari(home, "models", "list", **more).stdout.splitlines()
    found = {line.split()[0]: line.partition(" MB  ")[2] for line in lines if " MB  " in line}
    return found | {"": lines[-1] if " MB  " not in lines[-1] else ""}


@pytest.mark.shows("V9")
def test_a_model_is_pulled_by_name_with_progress_in_plain_lines(tmp_path: Path, hub: Hub) -> None:
    done = pull(tmp_path, hub, "tiny")
    assert (done.returncode, done.stderr) == (Exit.OK, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "tiny: 0.0 of 2.9 MB, 0 %"
    assert "tiny: 2.9 of 2.9 MB, 100 %" in lines
    assert lines[-2] == f"tiny is in {models(tmp_path) / 'tiny'}, whole and checked"
    assert lines[-1] == "a running nakari listens with it, if it is the best, after a restart"
    assert "\r" not in done.stdout
    assert find_model(models(tmp_path) / "tiny")


def test_what_is_here_is_not_pulled_again(tmp_path: Path, hub: Hub) -> None:
    pull(tmp_path, hub, "tiny")
    hub.asked.clear()
    done = pull(tmp_path, hub, "tiny")
    assert done.returncode == Exit.OK
    assert done.stdout == f"{models(tmp_path) / 'tiny'} is here already; remove it to fetch it anew\n"
    assert hub.asked == []


def test_a_folder_of_ones_own_takes_it(tmp_path: Path, hub: Hub) -> None:
    done = pull(tmp_path, hub, "tiny", "--folder", "elsewhere")
    assert done.stdout.splitlines()[-1] == f'to listen with it: [ears] model = "{tmp_path / "elsewhere" / "tiny"}"'
    assert find_model(tmp_path / "elsewhere" / "tiny")
    assert not models(tmp_path).exists()


def test_who_listens_with_another_is_told_how_to_take_this_one(tmp_path: Path, hub: Hub) -> None:
    (tmp_path / "n.toml").write_text('[ears]\nmodel = "small"\n')
    done = nakari(tmp_path, "--config", "n.toml", "models", "pull", "tiny", HF_ENDPOINT=hub.address)
    assert done.stdout.splitlines()[-1] == 'to listen with it: [ears] model = "tiny"'


def test_on_a_terminal_one_line_is_rewritten(tmp_path: Path, hub: Hub) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "appliance", "models", "pull", "tiny"],
        cwd=tmp_path,
        env=environment(tmp_path, HF_ENDPOINT=hub.address),
        stdout=theirs,
    ) as process:
        os.close(theirs)
        shown = read_all(ours)
    os.close(ours)
    assert process.returncode == Exit.OK
    first, second = shown.split("\n")[:2]
    assert first.count("\rtiny: ") >= 2
    assert first.rstrip().endswith("tiny: 2.9 of 2.9 MB, 100 %")
    assert second.startswith("tiny is in ")


def read_all(terminal: int) -> str:
    pieces = []
    try:
        while piece := os.read(terminal, 4096):
            pieces.append(piece)
    except OSError:  # Linux says EIO when the other end is closed
        pass
    return b"".join(pieces).decode().replace("\r\n", "\n")


@pytest.mark.shows("V9")
def test_ctrl_c_keeps_what_has_come_and_the_next_pull_goes_on(tmp_path: Path, hub: Hub) -> None:
    hub.held_at = 1_000_000
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-m", "appliance", "models", "pull", "tiny"],
        cwd=tmp_path,
        env=environment(tmp_path, HF_ENDPOINT=hub.address),
        stdout=pipe,
        stderr=pipe,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        for line in process.stdout:
            if re.search(r", 3\d %", line):
                break
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
    assert process.returncode == INTERRUPTED
    assert said == "stopped; what has come is kept, and the same command goes on from there\n"
    kept = (models(tmp_path) / "tiny.part" / WEIGHTS).stat().st_size
    assert kept > 500_000
    assert rows(tmp_path)["tiny"] == f"{(kept + 342_565) / 1e6:.1f} MB of it are here; pull goes on"
    hub.held_at = -1
    hub.release.set()
    hub.asked.clear()
    assert pull(tmp_path, hub, "tiny").returncode == Exit.OK
    assert hub.sent() == [(WEIGHTS, f"bytes={kept}-")]
    assert (models(tmp_path) / "tiny" / WEIGHTS).read_bytes() == OF_TINY[WEIGHTS]


@pytest.mark.shows("V9")
@pytest.mark.parametrize(
    ("name", "kind", "refusals", "words"),
    [
        ("small", "info", [], "could not be fetched: {hub} does not give it to us (404)"),
        (
            "tiny",
            "info",
            [Refusal(429, {"Retry-After": "9"})],
            "{hub} has no time for us (429, too many requests); try",
        ),
        ("tiny", "head", [Refusal(502)], "{hub} has a fault of its own (502); try again later"),
        ("tiny", "info", [Refusal(200, {}, b"<html>")], "what answers at {hub} is no hub"),
    ],
)
def test_what_goes_wrong_is_one_sentence_and_nothing_half_installed(
    tmp_path: Path, hub: Hub, name: str, kind: str, refusals: list[Refusal], words: str
) -> None:
    hub.refusals[kind] = refusals
    done = pull(tmp_path, hub, name)
    assert done.returncode == Exit.UNAVAILABLE
    assert done.stderr.startswith("nakari: ")
    assert words.format(hub=hub.address) in done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    assert not (models(tmp_path) / name).exists()


def test_damaged_bytes_are_one_sentence_and_nothing_half_installed(tmp_path: Path, hub: Hub) -> None:
    hub.flipped = 2
    done = pull(tmp_path, hub, "tiny")
    assert done.returncode == Exit.UNAVAILABLE
    assert "could not be fetched: model.bin arrived damaged from" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (models(tmp_path) / "tiny").exists()


def test_no_network_is_one_sentence(tmp_path: Path) -> None:
    done = nakari(tmp_path, "models", "pull", "tiny", HF_ENDPOINT="http://127.0.0.1:9")
    assert done.returncode == Exit.UNAVAILABLE
    assert "http://127.0.0.1:9 cannot be reached ([Errno 111] Connection refused); look at the network" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_folder_that_cannot_be_written_is_73(tmp_path: Path, hub: Hub) -> None:
    (tmp_path / "file").write_text("")
    done = pull(tmp_path, hub, "tiny", "--folder", "file")
    assert (done.returncode, done.stderr.count("\n")) == (Exit.CANNOT_CREATE, 1)


def test_the_list_names_every_model_and_says_that_none_is_here(tmp_path: Path) -> None:
    found = rows(tmp_path)
    assert found.pop("") == (
        "none of them listens: the small English recognizer does; `nakari models pull auto` fetches one"
    )
    assert found.pop(NAME) == "not here, compares texts by meaning"
    assert found == dict.fromkeys(MEGABYTES, "not here")
    assert "base          145 MB  not here\n" in nakari(tmp_path, "models", "list").stdout
    assert not state_folder(tmp_path).exists()


@pytest.mark.shows("V9")
def test_auto_pulls_the_usual_model_measures_and_remembers(tmp_path: Path, hub: Hub) -> None:
    done = pull(tmp_path, hub, "auto")
    assert (done.returncode, done.stderr) == (Exit.OK, "")
    factor = r"\d+\.\d\d s for a second of speech"
    assert re.search(rf"^measured base with \d+ threads?: {factor}$", done.stdout, re.MULTILINE)
    # Behind it stands whether that is quick enough, which depends on what else this machine does.
    assert re.search(
        rf"^chosen: base, \d+ threads?, {factor}($|; below 0.3 s would be better)", done.stdout, re.MULTILINE
    )
    assert re.fullmatch(rf"here, {factor}, \d+ threads?, listens", rows(tmp_path)["base"])
    hub.asked.clear()
    again = pull(tmp_path, hub, "auto")
    assert again.stdout.splitlines() == [done.stdout.splitlines()[-1]]
    assert hub.asked == []


def test_auto_measures_a_model_that_never_was_and_fetches_none(tmp_path: Path, hub: Hub) -> None:
    one = of_one_thread(tmp_path)
    for name in ("own", "tiny"):
        shutil.copytree(HOUSEHOLD_WHISPER, models(tmp_path) / name)
        done = pull(tmp_path, hub, "auto", **one)
        assert (done.returncode, done.stderr) == (Exit.OK, "")
        assert re.search(r"^measured own with ", done.stdout), "beside another one it is measured again"
        assert re.search(r"^chosen: (own|tiny), \d+ threads?, ", done.stdout.splitlines()[-1])
        assert "s for a second of speech" in rows(tmp_path, **one)["own"]
    assert hub.asked == []


def test_auto_is_for_the_state_folder(tmp_path: Path, hub: Hub) -> None:
    done = pull(tmp_path, hub, "auto", "--folder", "elsewhere")
    assert done.returncode == Exit.USAGE
    assert done.stderr.startswith("nakari: auto chooses among the models of the state folder: name one")
    assert hub.asked == []


def test_the_list_measures_when_asked_says_when_it_was_not_and_auto_fetches_nothing_then(
    tmp_path: Path, hub: Hub
) -> None:
    for name in ("own", "tiny"):
        shutil.copytree(HOUSEHOLD_WHISPER, models(tmp_path) / name)
    thread = of_one_thread(tmp_path)
    before = rows(tmp_path, **thread)
    assert (before["tiny"], before["own"]) == ("here", "here, listens")
    told = {
        one["name"]: one for one in json.loads(nakari(tmp_path, "models", "list", "--json", **thread).stdout)["models"]
    }
    assert (told["own"]["listens"], told["tiny"]["is_here"], told["base"]["is_here"]) == (True, True, False)
    assert before[""].startswith("the box is not measured yet: `nakari models list --measure` does it")
    done = nakari(tmp_path, "models", "list", "--measure", **thread)
    assert done.returncode == Exit.OK
    measured = re.findall(r"^measured (\w+) with .*: ([\d.]+) s for", done.stdout, re.MULTILINE)
    names = {name for name, _ in measured}
    keeps_up = any(float(factor) < BOUND - 0.01 for name, factor in measured if name == "own")
    assert names == {"own", "tiny"} if keeps_up else "own" in names, "the next larger one is measured while it pays"
    after = rows(tmp_path, **thread)
    assert sum("listens" in facts for facts in after.values()) == 1
    assert "s for a second of speech" in after["own"]
    assert after[""] == ""
    (listens,) = (name for name, facts in after.items() if "listens" in facts)
    assert pull(tmp_path, hub, "auto", **thread).stdout.splitlines()[-1].startswith(f"chosen: {listens}, ")
    assert hub.asked == []


def test_measuring_nothing_is_one_sentence(tmp_path: Path) -> None:
    done = nakari(tmp_path, "models", "list", "--measure")
    assert done.returncode == Exit.UNAVAILABLE
    assert done.stderr == (
        "nakari: no Whisper model is here that could be measured; `nakari models pull auto` fetches one\n"
    )


def test_a_model_elsewhere_that_listens_is_named(tmp_path: Path) -> None:
    (tmp_path / "n.toml").write_text(f'[ears]\nmodel = "{HOUSEHOLD_WHISPER}"\n')
    shown = nakari(tmp_path, "--config", "n.toml", "models", "list").stdout
    assert shown.splitlines()[-1] == f"{HOUSEHOLD_WHISPER} listens"


@pytest.mark.parametrize("command", [("models",), ("models", "list"), ("models", "pull")])
def test_help_is_there(tmp_path: Path, command: tuple[str, ...]) -> None:
    done = nakari(tmp_path, *command, "--help")
    assert done.returncode == Exit.OK
    assert done.stdout.startswith(f"Usage: nakari {' '.join(command)}")
