"""The command line as processes: help at once, one sentence for every mistake, the documented codes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from appliance import cli as commands
from appliance.config.file import SettingsText
from appliance.config.sections import Settings
from appliance.errors import INTERRUPTED, NOBODY_READS, Exit
from appliance.version import commit, version
from tests.appliance.command import environment, nakari
from tests.audio.spoken import HOUSEHOLD_WHISPER

COMMANDS = (
    *("run", "demo", "hear", "say", "ask", "chat", "mute", "unmute", "stop", "forget", "calibrate", "heard", "devices"),
    *("doctor", "status", "logs", "models", "config", "version", "timers", "volume", "help", "completion"),
)
TOO_HEAVY = (
    "numpy", "pydantic", "structlog", "asyncio", "httpx", "litellm", "neo4j", "faster_whisper", "onnxruntime",
    "sounddevice", "appliance.config.load", "appliance.service", "agent.loop", "memory.state.database",
)  # fmt: skip
MOST_MODULES = 100
"""That --help may load beside click and what click itself loads: 85 of them now, a module some 0.5 ms."""


def test_ctrl_c_while_it_imports_is_quiet(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nsignal.pause()\n")
    done = subprocess.run(
        [sys.executable, "-m", "appliance", "status"],
        env=environment(tmp_path) | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (INTERRUPTED, "", "")


HELPED = [(), *((name,) for name in COMMANDS), ("config", "show")]


@pytest.fixture(scope="module")
def helps(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[int, str, list[str]]]:
    """The exit code and the help of each command, and what was loaded by then, all in one process."""
    program = (
        "import contextlib, io, json, sys\nfrom appliance.cli.main import main\nfound = []\n"
        f"for command in {HELPED}:\n"
        "    with contextlib.redirect_stdout(io.StringIO()) as shown:\n        code = main([*command, '--help'])\n"
        f"    found.append((code, shown.getvalue(), [name for name in {TOO_HEAVY} if name in sys.modules]))\n"
        "print(json.dumps(found))"
    )
    own = environment(tmp_path_factory.mktemp("home"))
    done = subprocess.run([sys.executable, "-c", program], env=own, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return [(code, shown, loaded) for code, shown, loaded in json.loads(done.stdout)]


@pytest.mark.parametrize("number", range(len(HELPED)), ids=map(" ".join, HELPED))
def test_help_explains_and_loads_nothing(helps: list[tuple[int, str, list[str]]], number: int) -> None:
    code, shown, loaded = helps[number]
    assert (code, loaded) == (Exit.OK, [])
    assert shown.startswith(f"Usage: nakari {' '.join(HELPED[number])}".rstrip())


def test_help_loads_little_beside_click(tmp_path: Path) -> None:
    """How long it takes is told by `scripts/bench help_page`: seconds are the machine's, what is loaded is ours."""
    program = (
        "import sys, click\nbefore = {*sys.modules}\nfrom appliance.cli.main import main\nmain(['--help'])\n"
        "print(len({*sys.modules} - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(tmp_path), capture_output=True, text=True, check=True
    )
    assert 20 < int(done.stdout.splitlines()[-1]) <= MOST_MODULES


def test_help_documents_every_code_and_command(tmp_path: Path) -> None:
    shown = nakari(tmp_path, "--help").stdout
    codes = {int(line.split()[0]) for line in shown.partition("Exit codes:")[2].splitlines() if line.strip()}
    assert codes == {*map(int, Exit), INTERRUPTED, NOBODY_READS}
    assert all(f"\n  {name} " in shown for name in COMMANDS)
    assert "..." not in shown.partition("Talk:")[2].partition("Exit codes:")[0], (
        "a command's first line is too long for the list"
    )


def test_what_each_command_does_fits_in_its_list() -> None:
    groups = [each for each in commands.nakari.commands.values() if isinstance(each, click.Group)]
    for group in groups:
        shown = group.get_help(click.Context(group, info_name=group.name, terminal_width=78)).partition("Commands:")[2]
        assert shown
        assert "..." not in shown, shown


def test_no_command_at_all_is_a_question_for_help(tmp_path: Path) -> None:
    assert nakari(tmp_path).stdout == nakari(tmp_path, "--help").stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("demoo",), "nakari: No such command 'demoo'. Did you mean 'demo'? (see `nakari --help`)\n"),
        (("run", "--outptu", "x"), "nakari: No such option '--outptu'. Did you mean '--output'?"),
        (("run", "x"), "nakari: Got unexpected extra argument"),
        (("say",), "nakari: Missing argument 'TEXT'."),
        (("ask", " "), "nakari: Invalid value for 'TEXT': there is nothing in it (see `nakari ask --help`)\n"),
        (("volume", "-5"), "nakari: Invalid value: -5 is no volume; give 0 to 100, up or down"),
        (("volume", "loud"), "nakari: Invalid value: loud is no volume; give 0 to 100, up or down"),
        (
            ("config",),
            "nakari: Missing command: check, default, path, reload, set or show (see `nakari config --help`)\n",
        ),
        (("model",), "nakari: Missing command: use (see `nakari model --help`)\n"),
        (("say", "x", "--output", ""), "nakari: Invalid value for '--output': there is nothing in it (see `nakari say"),
        (
            ("--config", "", "status"),
            "nakari: Invalid value for '--config': there is nothing in it (see `nakari --help",
        ),
        (("x" * 100_000,), "nakari: No such command 'xxx"),
        (("hear", "\x1b[31m"), "nakari: ?[31m cannot be read as sound"),
        (("identity", "create", "a\nb"), "nakari: an identity needs a name that can be read (see"),
        (("logs", "-n", "9" * 30), "nakari: Invalid value for '-n' / '--lines': 9999"),
        (("heard", "-n", "0"), "nakari: Invalid value for '-n' / '--lines': 0 is none from 1 to 1000 (see"),
        (("heard", "-n", "1.5"), "nakari: Invalid value for '-n' / '--lines': '1.5' is no whole number (see"),
        (("forget", "--minutes", "ten"), "nakari: Invalid value for '--minutes': 'ten' is no number (see"),
    ],
)
def test_a_wrong_command_line_is_one_sentence(tmp_path: Path, arguments: tuple[str, ...], sentence: str) -> None:
    done = nakari(tmp_path, *arguments)
    assert done.returncode == (Exit.NO_INPUT if arguments[0] == "hear" else Exit.USAGE)
    assert done.stderr.startswith(sentence)
    assert done.stderr.count("\n") == 1
    assert len(done.stderr) < 1000
    assert done.stdout == ""


@pytest.mark.shows("F16")
@pytest.mark.parametrize(
    "command",
    [("run",), ("demo",), ("hear", "x.wav"), ("say", "x"), ("ask", "x"), ("status",), ("config", "show")],
)
def test_a_wrong_key_stops_every_command_with_one_sentence(tmp_path: Path, command: tuple[str, ...]) -> None:
    file = tmp_path / "box.toml"
    file.write_text("[ears]\n\nmodle = 'small'\n", encoding="utf-8")
    done = nakari(tmp_path, "--config", file, *command)
    assert done.returncode == Exit.CONFIG
    assert done.stderr == f"nakari: {file}, line 3: [ears] has no key modle; did you mean model?\n"
    assert done.stdout == ""
    assert not (tmp_path / ".local").exists(), "nothing is made before the configuration is right"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[ears", "is not valid TOML: Expected ']'"),
        (
            "[log]\nlevel = 'loud'",
            'line 2: [log] level should be "debug", "info", "warning" or "error"; it is "loud"',
        ),
        ("[log]\nfile = '/proc/nakari.log'", "the log file /proc/nakari.log cannot be written"),
        ("\x00", "is not valid TOML"),
    ],
)
def test_a_broken_file_is_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "box.toml").write_text(text, encoding="utf-8")
    done = nakari(tmp_path, "config", "show", NAKARI_CONFIG="box.toml")
    assert done.returncode == Exit.CONFIG
    assert done.stderr.startswith("nakari: ")
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("place", ["missing.toml", "missing/nakari.toml", "."])
def test_a_named_file_that_is_none(tmp_path: Path, place: str) -> None:
    done = nakari(tmp_path, "--config", place, "config", "show")
    assert done.returncode == Exit.CONFIG
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("nakari: the configuration ")


def test_the_default_file_is_a_place_to_start(tmp_path: Path) -> None:
    made = nakari(tmp_path, "config", "default")
    assert made.returncode == Exit.OK
    (tmp_path / "nakari.toml").write_text(made.stdout, encoding="utf-8")
    shown = nakari(tmp_path, "--config", "nakari.toml", "config", "show")
    assert shown.returncode == Exit.OK
    assert SettingsText("", shown.stdout).parse() == Settings()


def test_what_is_used_is_shown_without_the_secrets(tmp_path: Path) -> None:
    (tmp_path / "nakari.toml").write_text("[voice]\nvolume = 7\n", encoding="utf-8")
    shown = nakari(tmp_path, "--config", "nakari.toml", "config", "show", OPENAI_API_KEY="planted-secret").stdout
    assert "volume = 7  # default: 100" in shown
    assert f"# read from {tmp_path}/nakari.toml" in shown
    assert "# keys and passwords known: OPENAI_API_KEY" in shown
    assert "planted-secret" not in shown


@pytest.mark.parametrize("asked", ["version", "--version"])
def test_the_version_is_told(tmp_path: Path, asked: str) -> None:
    done = nakari(tmp_path, asked)
    assert done.returncode == Exit.OK
    assert done.stdout == f"nakari {version()}, commit {commit()}\n"


@pytest.mark.parametrize("arguments", [("status",), ("status", "--json")])
def test_no_service_is_said(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    (tmp_path / "nakari.toml").write_text(f"[state]\nfolder = '{tmp_path}/state'\n", encoding="utf-8")
    done = nakari(tmp_path, "--config", "nakari.toml", *arguments)
    assert done.returncode == Exit.UNAVAILABLE
    assert done.stderr.startswith(f"nakari: no nakari is running ({tmp_path}/state/nakari.sock); start it with")
    assert done.stdout == ""


def test_closed_outputs_are_no_error(tmp_path: Path) -> None:
    command = f"exec {sys.executable} -m appliance config show >&- 2>&-"
    assert subprocess.run(["sh", "-c", command], env=environment(tmp_path), check=False).returncode == Exit.OK


@pytest.mark.parametrize("arguments", ["ask -", "say -"])
def test_a_closed_input_has_nothing_in_it(tmp_path: Path, arguments: str) -> None:
    command = f"exec {sys.executable} -m appliance {arguments} <&-"
    done = subprocess.run(["sh", "-c", command], env=environment(tmp_path), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (Exit.USAGE, 1), done.stderr


def test_a_conversation_without_an_input_is_over(tmp_path: Path) -> None:
    command = f"exec {sys.executable} -m appliance chat <&-"
    done = subprocess.run(["sh", "-c", command], env=environment(tmp_path), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (Exit.OK, "")


def test_a_sentence_that_nobody_reads_changes_no_code(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "appliance", "status"], env=environment(tmp_path), stderr=writing, check=False
    )
    os.close(writing)
    assert done.returncode == Exit.UNAVAILABLE


def test_a_sentence_is_told_while_a_library_has_descriptor_2(tmp_path: Path) -> None:
    program = (
        "import os, sys\nfrom appliance import cli as commands, errors\nfrom appliance.cli import main as cli\n"
        "@commands.nakari.command()\ndef start() -> None:\n"
        "    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)\n"
        "    raise errors.Problem('no microphone; plug one in', errors.Exit.UNAVAILABLE)\n"
        "sys.exit(cli.main(['start']))"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment(tmp_path), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (Exit.UNAVAILABLE, "nakari: no microphone; plug one in\n")


def test_a_terminal_without_the_letters_still_gets_the_text(tmp_path: Path) -> None:
    (tmp_path / "nakari.toml").write_text("[ears]\nmodel = '模型'\n", encoding="utf-8")
    done = nakari(tmp_path, "--config", "nakari.toml", "config", "show", PYTHONIOENCODING="latin-1")
    assert done.returncode == Exit.OK
    assert 'model = "??"' in done.stdout


def test_a_full_disk_behind_stdout_is_said(tmp_path: Path) -> None:
    command = f"exec {sys.executable} -m appliance config default > /dev/full"
    done = subprocess.run(["sh", "-c", command], env=environment(tmp_path), capture_output=True, text=True, check=False)
    assert done.returncode == Exit.CANNOT_CREATE
    assert done.stderr == "nakari: No space left on device; check permissions and free space\n"


def test_the_doctor_speaks_json_too(tmp_path: Path) -> None:
    (tmp_path / "nakari.toml").write_text(f"[ears]\nmodel = '{HOUSEHOLD_WHISPER}'\n")  # is timed, and soon
    done = nakari(tmp_path, "--config", "nakari.toml", "doctor", "--json")
    assert done.returncode in (Exit.OK, Exit.FAULT)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert {line["state"] for line in lines} <= {"ok", "warning", "fault"}
    assert (done.returncode == Exit.FAULT) == any(line["state"] == "fault" for line in lines)


@pytest.mark.shows("F14")
def test_settings_without_more_lists_them(tmp_path: Path) -> None:
    done = nakari(tmp_path, "settings")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == nakari(tmp_path, "settings", "list").stdout != ""
