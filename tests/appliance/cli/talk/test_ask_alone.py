"""`nakari ask` where no service runs: it opens what a written question needs, and no more."""

import signal
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from appliance.errors import INTERRUPTED, Exit
from tests.appliance.command import environment, nakari, state_folder

NOT_FOR_A_QUESTION = (
    *("arcadedb", "ctranslate2", "edge_tts", "faster_whisper", "httpx", "litellm", "mcp", "neo4j", "onnxruntime"),
    *("openai", "pocketsphinx", "sounddevice", "tiktoken", "tokenizers", "livekit", "zeroconf", "aiohttp"),
)

NO_GRAPH = "[memory]\nenabled = false\n"
"""Where it has no part in what is asked, its store need not be started."""

PROGRAM = f"""
import sys
begun = []
STARTS = {{"subprocess.Popen", "os.fork", "os.posix_spawn"}}
sys.addaudithook(lambda name, args: begun.append(name) if name in STARTS else None)
from appliance.cli.main import main
code = main(["ask", "what", "time", "is", "it?"])
import threading
print("LOADED", [name for name in {NOT_FOR_A_QUESTION} if name in sys.modules])
print("STARTED", begun, [each.name for each in threading.enumerate() if each.name == "sound"])
sys.exit(code)
"""


def ask(home: Path) -> subprocess.CompletedProcess[str]:
    """Ask the time with every part of the box switched on, as it is by default."""
    command = [sys.executable, "-c", PROGRAM]
    return subprocess.run(
        command, env=environment(home, TZ="UTC"), capture_output=True, text=True, timeout=50, check=False
    )


def test_a_question_that_waits_for_a_model_is_reported_as_waiting(tmp_path: Path) -> None:
    away = '[model]\nprovider = "openai"\nbase_url = "http://127.0.0.1:9/v1"\nname = "m"\n'
    (tmp_path / "nakari.toml").write_text(f"{away}{NO_GRAPH}")
    done = nakari(tmp_path, "--config", tmp_path / "nakari.toml", "ask", "tell me a joke")
    assert done.returncode == Exit.UNAVAILABLE
    assert done.stdout.startswith("I heard you, but I cannot reach the model")
    assert "It waits until a model answers it: " in done.stderr
    assert "mailbox --withdraw" in done.stderr


def test_ctrl_c_ends_a_question_for_good(tmp_path: Path) -> None:
    """The next command would answer it first, in silence."""
    with socket.create_server(("127.0.0.1", 0)) as model:
        model.settimeout(50)
        away = f'[model]\nprovider = "openai"\nbase_url = "http://127.0.0.1:{model.getsockname()[1]}/v1"\nname = "m"\n'
        (tmp_path / "nakari.toml").write_text(f"{away}{NO_GRAPH}")
        command = [
            sys.executable,
            "-m",
            "appliance",
            "--config",
            str(tmp_path / "nakari.toml"),
            "ask",
            "tell me a joke",
        ]
        with subprocess.Popen(command, env=environment(tmp_path), stdout=subprocess.PIPE, text=True) as asking:
            asked, _ = model.accept()
            asking.send_signal(signal.SIGINT)
            assert asking.communicate(timeout=50)[0] == ""
            asked.close()
    assert asking.returncode == INTERRUPTED
    with closing(sqlite3.connect(state_folder(tmp_path) / "nakari.db")) as state:
        assert state.execute("SELECT state FROM mailbox").fetchall() == [("completed",)]


def test_the_time_costs_no_heavy_library_no_child_process_and_no_sound(tmp_path: Path) -> None:
    done = ask(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    answer, *rest = done.stdout.splitlines()
    assert answer.startswith("It is ")
    assert rest == ["LOADED []", "STARTED [] []"]


@pytest.mark.shows("G1")
def test_what_the_house_wants_to_be_asked_about_is_done_after_a_second_command_says_yes(tmp_path: Path) -> None:
    """Without a service and without a model: the question outlives the command that asked it."""
    (tmp_path / "nakari.toml").write_text(f'[tools]\nconfirm = ["set_timer"]\n{NO_GRAPH}')

    def told(words: str) -> str:
        done = nakari(tmp_path, "--config", tmp_path / "nakari.toml", "ask", words)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.strip()

    call = "use set_timer (seconds: 300.0, label: 5 minutes, repeat: false, reminder: false)"
    asked = told("set a timer for five minutes")
    assert asked == f"I am about to {call}. Shall I? (Within a minute: nakari ask yes)"
    assert told("yes") == "It is done."
    assert "left on your five-minute timer" in told("what timers are set")


@pytest.mark.shows("H10")
def test_at_ears_it_is_told_that_the_household_has_its_own_lists(tmp_path: Path) -> None:
    (tmp_path / "nakari.toml").write_text('[machines]\nurl = "nats://127.0.0.1:1"\nrole = "ears"\n')
    done = nakari(tmp_path, "--config", tmp_path / "nakari.toml", "ask", "what time is it")
    assert (done.returncode, done.stderr.count("these are ears")) == (0, 1), done
