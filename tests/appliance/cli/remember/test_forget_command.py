"""`nakari forget` says which words go, and asks; a script says --yes."""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from appliance.errors import Exit
from tests.appliance.command import Terminal, environment, nakari
from tests.appliance.door_fakes import ScriptedHandler, serving

T = TypeVar("T")


async def at_the_door(home: Path, handler: ScriptedHandler, act: Callable[[], T]) -> T:
    """Do something, in a thread, that comes to a door behind which this handler answers."""
    file = home / "box.toml"
    file.write_text(f"[door]\nsocket = '{home}/door.sock'\n", encoding="utf-8")
    async with serving(home / "door.sock", handler):
        return await asyncio.to_thread(act)


@pytest.mark.parametrize(("typed", "code"), [("y\n", Exit.OK), ("n\n", Exit.FAULT), ("\x03", 130)])
async def test_on_a_terminal_the_words_are_shown_and_it_asks(tmp_path: Path, typed: str, code: int) -> None:
    handler = ScriptedHandler()

    def ask() -> tuple[str, str, int]:
        command = [sys.executable, "-m", "appliance", "--config", f"{tmp_path}/box.toml", "forget"]
        terminal = Terminal(command, environment(tmp_path))
        shown = terminal.until("Is that meant?")
        if typed == "\x03":
            return shown, *terminal.interrupted()
        terminal.type(typed)
        return shown, *terminal.ended()

    shown, rest, ended = await at_the_door(tmp_path, handler, ask)
    assert "the dentist is on Friday" in shown
    assert ended == code
    assert ("Forgotten." in rest) is (code == Exit.OK)
    assert handler.told == (["forget 1 None ['e1']"] if code == Exit.OK else [])


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--yes",), "forget 1 None ['e1']"),
        (("--last", "3", "--yes"), "forget 3 None ['e1']"),
        (("--minutes", "5", "--yes"), "forget 1 5.0 ['e1']"),
        (("--about", "dentist", "--yes"), "forget 1 None ['e1']"),
    ],
)
async def test_a_script_says_yes(tmp_path: Path, arguments: tuple[str, ...], told: str) -> None:
    handler = ScriptedHandler()
    done = await at_the_door(tmp_path, handler, lambda: nakari(tmp_path, "--config", "box.toml", "forget", *arguments))
    assert (done.returncode, done.stdout, done.stderr) == (0, "Forgotten.\n", "")
    assert handler.told == [told]


async def test_a_script_that_does_not_is_refused(tmp_path: Path) -> None:
    handler = ScriptedHandler()
    done = await at_the_door(tmp_path, handler, lambda: nakari(tmp_path, "--config", "box.toml", "forget"))
    assert (done.returncode, done.stdout) == (Exit.USAGE, "")
    assert "say --yes where nobody can be asked" in done.stderr
    assert handler.told == []


@pytest.mark.parametrize(("about", "mend"), [("my moon", "; a word less may find it"), ("moon", "")])
async def test_of_what_nobody_said_nothing_goes(tmp_path: Path, about: str, mend: str) -> None:
    handler = ScriptedHandler()
    command = ("--config", "box.toml", "forget", "--about", about, "--yes")
    done = await at_the_door(tmp_path, handler, lambda: nakari(tmp_path, *command))
    told = f"nothing was said here with all the words of '{about}'{mend}\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, told, "")
    assert handler.told == []


def test_one_way_is_chosen(tmp_path: Path) -> None:
    done = nakari(tmp_path, "forget", "--about", "my moon", "--last", "2")
    assert done.returncode == 2
    assert "one of --last, --minutes and --about" in done.stderr
