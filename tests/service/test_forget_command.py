"""`nakari forget` for everything of an owner, as a process: who is meant, whether that is meant, and what it says."""

import asyncio
import os
import pty
import subprocess
from pathlib import Path

import pytest

from appliance.api.client import Question, answer_to
from appliance.cli.main import main
from appliance.errors import Exit
from memory.identity import Identities, new_key
from tests.memory.history.test_erasure import found_in
from tests.service.living import living
from tests.service.privacy import clean_environment
from tests.service.process import NAKARI, Household

pytestmark = pytest.mark.shows("F12", "V29")

NAME = "Wilhelmina"


def registered(home: Household) -> str:
    _, key = new_key()
    return Identities(home.state / "identities").register(NAME, key).owner_key


def test_without_a_person_to_ask_it_wants_a_yes_and_without_a_service_it_works(tmp_path: Path) -> None:
    home = Household(tmp_path)
    key = registered(home)
    asked = home.run("forget", "--owner", NAME)
    assert asked.returncode == Exit.USAGE
    assert f"everything of {NAME} ({key}) would go for good; say --yes where nobody can be asked" in asked.stderr
    assert found_in(home.state, NAME)
    done = home.run("forget", "--owner", NAME, "--yes")
    assert (done.returncode, done.stderr) == (Exit.OK, "")
    assert done.stdout == (
        f"Everything of {NAME} is erased: 0 entries of the journal and 0 writes into the household's graph; digests "
        "stay; backups of before are not reached.\n"
    )
    assert found_in(home.state, NAME) == []
    again = home.run("forget", "--owner", key, "--yes")
    assert again.stdout == f"There was nothing of {key} left to erase; backups of before are not reached.\n"


@pytest.mark.parametrize(("answer", "code"), [(b"n\n", Exit.FAULT), (b"y\n", Exit.OK)])
def test_on_a_terminal_it_asks(tmp_path: Path, answer: bytes, code: Exit) -> None:
    home = Household(tmp_path)
    key = registered(home)
    ours, theirs = pty.openpty()
    try:
        os.write(ours, answer)
        done = subprocess.run(
            [*NAKARI, "--config", str(home.write()), "forget", "--owner", NAME],
            env=clean_environment(HOME=str(tmp_path)),
            stdin=theirs,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.stderr.startswith(f"Everything of {NAME} ({key}) goes for good. Is that meant? [y/N]: ")
    assert done.returncode == code
    assert bool(found_in(home.state, NAME)) is (code != Exit.OK)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--everything",), "--everything goes with --as KEYFILE"),
        (("--owner", "Ada", "--as", "ada.key"), "--owner KEY|NAME without"),
        (("--as", "ada.key"), "--as is for --everything"),
        (("--owner", "Ada", "--last", "3"), "either a number, or minutes, or words, or everything of an owner"),
    ],
)
def test_what_does_not_go_together_is_one_sentence(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], sentence: str
) -> None:
    assert main(["forget", *arguments]) == Exit.USAGE
    told = capsys.readouterr().err
    assert sentence in told
    assert len(told.splitlines()) == 1


async def test_whoever_has_a_key_is_forgotten_at_their_own_word(tmp_path: Path) -> None:
    private, key = new_key()
    (tmp_path / "hers.key").write_bytes(private)
    home = Household(tmp_path)
    async with living(home) as box:
        async for _ in answer_to(box.config.socket, Question(f"I am {NAME}", "test"), private):
            pass
        assert found_in(home.state, NAME)
        command = [*NAKARI, "--config", str(home.file), "forget", "--everything", "--as", str(tmp_path / "hers.key")]
        process = await asyncio.create_subprocess_exec(
            *command, "--yes", env=clean_environment(HOME=str(tmp_path)), stdout=asyncio.subprocess.PIPE
        )
        told, _ = await process.communicate()
    assert process.returncode == Exit.OK
    assert told.decode().startswith(f"Everything of {key} is erased: ")
    assert found_in(home.state, NAME) == []


async def test_one_thing_is_forgotten_by_its_words(tmp_path: Path) -> None:
    home = Household(tmp_path, {"memory": {"enabled": True, "embeddings": "off"}})
    async with living(home) as box:
        await box.ready()
        await box.keeps(f"{NAME} likes plums")
        await box.keeps("the bike is red")
        done = await asyncio.to_thread(home.run, "forget", "--about", f"PLUMS {NAME.lower()}", "--yes")
        assert done.stdout.startswith("Forgotten: "), done.stderr
        assert await box.knows() == ["the bike is red"]
        again = await asyncio.to_thread(home.run, "forget", "--about", NAME, "--yes")
        assert again.stdout.startswith("nothing was said here with all the words")
    assert found_in(home.state, NAME) == []


def test_one_thing_is_forgotten_by_a_wish_and_a_yes(tmp_path: Path) -> None:
    home = Household(tmp_path)

    def says(words: str) -> str:
        return home.run("ask", words).stdout.strip()

    with home.running("run") as box:
        box.until("service_started")
        says(f"{NAME}'s bike is in the cellar")
        says("the piano is out of tune")
        told = f"“{NAME}'s bike is in the cellar”; “where is {NAME}'s bike?”"
        assert f"{NAME}'s bike is in the cellar" in says(f"where is {NAME}'s bike?")
        assert says(f"forget what I said about {NAME}'s bike").startswith(f"I am about to forget {told}. Shall I?")
        assert says("yes") == f"I am forgetting it: {told}."
        box.until("reflex_kept")
        assert found_in(home.state, NAME) == []
        assert "out of tune" in says("what is out of tune?")
        assert says("forget the xylophone").startswith("Nothing that was said here has that in it")
