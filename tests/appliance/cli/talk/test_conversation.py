"""A conversation typed in a terminal, from a pipe, and what `nakari run` shows of a spoken one; real processes."""

import subprocess
import sys
from pathlib import Path

from tests.appliance.command import Terminal, environment, nakari, piped

COMMAND = [sys.executable, "-m", "appliance"]


def quiet(home: Path) -> dict[str, str]:
    """Return the variables of a user whose box fetches nothing and asks nobody."""
    file = home / "box.toml"
    settings = (
        "[ears]\ndownload = false\ncalibrate_at_start = false\n"
        "[model]\nprovider = 'offline'\n[memory]\nenabled = false\n[voice]\nengine = 'espeak'\n"
    )
    file.write_text(settings, encoding="utf-8")
    return environment(home, NAKARI_CONFIG=str(file), TZ="UTC")


def test_lines_are_answered_on_a_terminal_and_the_one_before_comes_back(tmp_path: Path) -> None:
    terminal = Terminal([*COMMAND, "chat"], quiet(tmp_path))
    assert "Ctrl-D ends it" in terminal.until("> ")
    terminal.type("what time is it\n")
    terminal.until("It is ")
    terminal.until("> ")
    terminal.type("\x1b[A\n")  # arrow up
    assert "what time is it" in terminal.until("It is ")
    terminal.until("> ")
    terminal.type("\x04")
    assert terminal.ended() == ("\n", 0)


def test_ctrl_c_ends_it(tmp_path: Path) -> None:
    terminal = Terminal([*COMMAND, "chat"], quiet(tmp_path))
    terminal.until("> ")
    assert terminal.interrupted()[1] == 130


def test_a_pipe_is_answered_line_by_line_without_a_prompt(tmp_path: Path) -> None:
    done = piped(b"what time is it\n\nwhat is the date\n", quiet(tmp_path), "chat")
    first, second = done.stdout.splitlines()
    assert first.startswith(b"It is ")
    assert second.startswith(b"Today is ")
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_line_that_is_not_utf_8_does_not_end_it(tmp_path: Path) -> None:
    done = piped(b"\xff\xfe\nwhat time is it\n", quiet(tmp_path), "chat")
    assert (len(done.stdout.splitlines()), done.stderr, done.returncode) == (2, b"", 0)
    assert done.stdout.splitlines()[1].startswith(b"It is ")


def test_a_dash_is_standard_input(tmp_path: Path) -> None:
    done = piped(b"what time is it\n", quiet(tmp_path), "ask", "-")
    assert (done.returncode, done.stdout[:6]) == (0, b"It is ")
    done = piped(b" \n", quiet(tmp_path), "ask", "-")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"there is nothing in it" in done.stderr


def test_run_says_what_it_hears_and_what_it_answers(tmp_path: Path) -> None:
    variables = quiet(tmp_path)
    question, answer = tmp_path / "question.wav", tmp_path / "answer.wav"
    made = "import asyncio, pathlib, sys\nfrom appliance.cli.talk.demo import QUESTION, speak_question\n"
    made += "asyncio.run(speak_question(QUESTION, pathlib.Path(sys.argv[1])))"
    subprocess.run([sys.executable, "-c", made, str(question)], env=variables, check=True)
    command = [*COMMAND, "run", "--input", str(question), "--fast", "--output", str(answer), "--once"]
    shown, code = Terminal(command, {**variables, "NO_COLOR": "1"}).ended()
    assert code == 0
    assert 'I am listening; try: "what time is it"' in shown
    assert "\nyou     what day is it today" in shown.lower()
    assert "\nnakari  Today is " in shown
    assert '{"' not in shown, "no JSON in between"


def test_the_demo_shows_a_person_only_what_it_prints(tmp_path: Path) -> None:
    command = [*COMMAND, "demo", "--output", str(tmp_path / "answer.wav")]
    shown, code = Terminal(command, quiet(tmp_path)).ended()
    assert code == 0
    meant, heard, answered, *_ = shown.splitlines()
    assert (meant.split()[0], heard.split()[0], answered.split()[0]) == ("meant", "heard", "answered")


def test_without_a_microphone_run_says_how_to_type(tmp_path: Path) -> None:
    terminal = Terminal([*COMMAND, "run"], quiet(tmp_path))
    seen = terminal.until("Ctrl-C ends it.")
    assert "I am listening" in seen or "Try `nakari chat` or `nakari ask TEXT`" in seen
    terminal.type("\x03")
    assert terminal.ended()[1] == 0


def test_timers_are_listed_and_cancelled(tmp_path: Path) -> None:
    settings = {"NAKARI_CONFIG": quiet(tmp_path)["NAKARI_CONFIG"], "TZ": "UTC"}
    assert nakari(tmp_path, "timers", **settings).stdout == "no timers\n"
    nakari(tmp_path, "ask", "set a timer for ten minutes called pasta", **settings)
    (line,) = nakari(tmp_path, "timers", **settings).stdout.splitlines()
    assert "  pasta  " in line
    assert "no timer rice" in nakari(tmp_path, "timers", "cancel", "rice", **settings).stderr
    assert nakari(tmp_path, "timers", "cancel", "pasta", **settings).stdout.startswith("Cancelled: pasta, 20")
    assert nakari(tmp_path, "timers", "--json", **settings).stdout == '{"timers": []}\n'
