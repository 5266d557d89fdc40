"""What can be wrong around the box: one clear sentence with the fix, a documented exit code, no traceback."""

import os
import socket
import subprocess
from pathlib import Path

import pytest

from appliance.errors import Exit
from tests.service.process import Household, speak


@pytest.fixture
def home(tmp_path: Path) -> Household:
    return Household(tmp_path)


def told(done: subprocess.CompletedProcess[str], code: Exit, *parts: str) -> None:
    """Check the exit code, and that the last line on stderr is one sentence with these parts in it."""
    sentence = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else ""
    assert done.returncode == code, done.stderr
    assert sentence.startswith("nakari: "), done.stderr
    assert "Traceback" not in done.stderr + done.stdout
    for part in parts:
        assert part in sentence


@pytest.mark.parametrize("command", [("hear",), ("run", "--fast", "--once", "--input")])
def test_a_text_file_as_wav(home: Household, command: tuple[str, ...]) -> None:
    file = home.folder / "question.wav"
    file.write_text("this is no sound at all\n" * 50)
    told(home.run(*command, str(file)), Exit.NO_INPUT, "question.wav", "give a")


def test_an_empty_wav(home: Household) -> None:
    file = home.folder / "empty.wav"
    subprocess.run(["sox", "-n", "-r", "16000", "-c", "1", str(file), "trim", "0", "0"], check=True)
    told(home.run("hear", str(file)), Exit.NO_INPUT, "holds no sound")


def test_an_empty_file_and_a_missing_one(home: Household) -> None:
    (home.folder / "nothing.wav").touch()
    told(home.run("hear", str(home.folder / "nothing.wav")), Exit.NO_INPUT, "nothing.wav")
    told(home.run("hear", str(home.folder / "gone.wav")), Exit.NO_INPUT, "gone.wav")


def test_an_8_bit_96_khz_stereo_wav_works(home: Household) -> None:
    clear = speak("What time is it?", home.folder / "clear.wav")
    odd = home.folder / "odd.wav"
    subprocess.run(["sox", str(clear), "-r", "96000", "-c", "2", "-b", "8", "-e", "unsigned", str(odd)], check=True)
    done = home.run("hear", str(odd))
    assert done.returncode == 0, done.stderr
    assert "What time is it?" in done.stdout


def test_a_wrong_key_in_the_configuration(home: Household) -> None:
    home.settings["voice"] = {"engin": "espeak"}
    told(home.run("run", "--once"), Exit.CONFIG, "engin", "engine")


def test_a_busy_port_costs_its_memory_and_nothing_else(home: Household) -> None:
    """The box's own store wants a port that another program has: it answers, `doctor` and the log say what to do."""
    with socket.create_server(("127.0.0.1", 0)) as busy:
        home.settings["memory"] = {"enabled": True, "bolt_port": busy.getsockname()[1]}
        question = speak("What time is it?", home.folder / "q.wav")
        done = home.run("run", "--once", "--fast", "--input", str(question), "--output", str(home.folder / "a.wav"))
    assert done.returncode == 0, done.stderr
    assert home.states() == ["completed"]
    assert "bolt_port" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unwritable_state_folder(home: Household) -> None:
    locked = home.folder / "locked"
    locked.mkdir(mode=0o555)
    # No mode keeps root out; sysfs does.
    folder = Path("/sys/nakari") if os.geteuid() == 0 else locked / "state"
    home.settings["state"] = {"folder": str(folder)}
    told(home.run("run", "--once"), Exit.CANNOT_CREATE, str(folder), "writable")


def test_no_loudspeaker_and_no_microphone(home: Household) -> None:
    """There is none in a test process: the doors are open all the same, and each is said in one line."""
    with home.running("run") as service:
        service.until("service_started")
        missing = [line["event"] for line in service.log]
        assert missing.count("no_microphone") == 1
        assert missing.count("no_loudspeaker") == 1
        asked = home.run("ask", "what time is it")
        assert asked.returncode == 0, asked.stderr
        assert asked.stdout.startswith("It is ")
        assert service.stop() == 0


def test_a_model_folder_that_is_not_one(home: Household) -> None:
    home.settings["ears"] = {"model": str(home.folder)}
    told(home.run("run", "--once"), Exit.UNAVAILABLE, str(home.folder), "model.bin")


def test_an_output_that_cannot_be_written(home: Household) -> None:
    question = speak("What time is it?", home.folder / "q.wav")
    done = home.run("run", "--once", "--fast", "--input", str(question), "--output", "/proc/answer.wav")
    told(done, Exit.CANNOT_CREATE, "/proc/answer.wav")
    told(home.run("say", "hello", "--output", "/proc/answer.wav"), Exit.CANNOT_CREATE, "/proc/answer.wav")


def test_a_second_nakari_on_the_same_state(home: Household) -> None:
    with home.running("run") as first:
        first.until("service_started")
        told(home.run("run", "--once"), Exit.ALREADY_RUNNING)
        assert first.stop() == 0


def test_every_exit_code_is_documented(home: Household) -> None:
    helped = home.run("--help").stdout
    for code in Exit:
        assert f" {int(code)}  " in helped
