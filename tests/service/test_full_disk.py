"""The disk of a living box is full, or fails: nobody is left in silence, and what was heard is answered."""

import asyncio
import resource
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path

import pytest
from msgspec import Struct
from structlog.testing import capture_logs

from agent.run.system_replies import phrase
from appliance.api.client import tell
from appliance.config.load import load
from appliance.doctor.machine import state
from appliance.errors import Exit, Problem
from appliance.wiring.memory.state import disk_of, open_state
from memory.json_value import Json
from tests.appliance.input.test_hearing import heard
from tests.service.living import DEAF, Living, living
from tests.service.process import Household

pytestmark = pytest.mark.shows("A24", "C15", "H5")

ANSWER = "Very well, thank you."


class Outage(Struct, frozen=True):
    """What becomes of the disk, how it says so, and how status and doctor do."""

    begins: Callable[[Path], AbstractContextManager[None]]
    says: str
    status: str
    told: str


@contextmanager
def small_disk(folder: Path, limit: str = "size=8m") -> Iterator[None]:
    """Mount a disk of a few megabytes, or with another limit of tmpfs(5); the test is skipped where nobody may."""
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", limit, "nakari-test", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("needs root and leave to mount: a disk of its own that can be full")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextmanager
def full(folder: Path) -> Iterator[None]:
    """Write until nothing goes any more, and make room again at the end."""
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(b"\0" * 4096):
            pass
    yield
    ballast.unlink()


@contextmanager
def failing(folder: Path) -> Iterator[None]:
    """Let the system refuse whatever this process writes into any file: SQLite takes it for a failing disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


FULL = Outage(full, "disk_full", "full", "is full: nothing that is said to nakari can be kept")
FAILS = Outage(failing, "disk_unusable", "takes nothing (File too large)", "cannot be written: File too large")


async def spoken_to(living_box: Living, words: str, seconds_ago: float) -> None:
    """Let it hear something, and wait until it has said what it says of that at once."""
    await living_box.box.input.intake.accept(heard(words, seconds_ago))
    await living_box.box.output.speech.quiet()


async def at_rest(living_box: Living) -> None:
    """Return when all that waited for the disk is answered."""
    async with asyncio.timeout(120):
        await living_box.box.input.turns.none.wait()
        await living_box.box.household.mailbox.until_idle()
        await living_box.box.output.speech.quiet()


@pytest.mark.parametrize("is_begun", [False, True], ids=["new", "begun"])
async def test_a_start_ends_with_one_sentence(tmp_path: Path, is_begun: bool) -> None:
    home = Household(tmp_path / "home")
    home.folder.mkdir()
    with small_disk(home.state):
        if is_begun:
            async with open_state(load(home.write(), {"HOME": str(home.folder)}).state_folder):
                pass
        with full(home.state):
            done = await asyncio.to_thread(home.run, "run")
    assert (done.returncode, done.stderr.count("\n")) == (Exit.CANNOT_CREATE, 1), done.stderr
    assert done.stderr.startswith(f"nakari: the state {'database' if is_begun else 'folder'} {home.state}")
    assert "; free some disk space" in done.stderr


def test_a_disk_without_room_for_one_more_file_is_full(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "size=8m,nr_inodes=4"):
        assert disk_of(tmp_path / "disk")["disk"] == "has room"
        for name in "abc":
            (tmp_path / "disk" / name).touch()
        assert disk_of(tmp_path / "disk")["disk"] == "full"


async def test_what_a_full_disk_cannot_forget_is_no_success(tmp_path: Path) -> None:
    home = Household(tmp_path / "home")
    home.folder.mkdir()
    with small_disk(home.state):
        async with living(home, DEAF) as living_box:
            assert await living_box.asked("How are you?") == ANSWER
            socket = living_box.config.socket
            request: dict[str, Json] = {"do": "forget", "last": 1}
            with full(home.state):
                what = rf"I could not forget all of it\. The disk of {home.state} is full; make room and type it again"
                with pytest.raises(Problem, match=what) as refused:
                    await tell(socket, request)
                assert refused.value.code is Exit.CANNOT_CREATE
            assert "Forgotten" in str(await tell(socket, request))


def test_a_log_file_without_room_is_no_wrong_configuration(tmp_path: Path) -> None:
    home = Household(tmp_path / "home", {"log": {"file": str(tmp_path / "disk/nakari.log")}})
    with small_disk(tmp_path / "disk", "nr_inodes=1"):
        done = home.run("status")
    assert (done.returncode, done.stderr.count("\n")) == (Exit.CANNOT_CREATE, 1), done.stderr
    assert "disk/nakari.log: No space left on device" in done.stderr


@pytest.mark.parametrize("outage", [FULL, FAILS], ids=["full", "fails"])
async def test_who_speaks_or_writes_is_told_and_is_answered_when_the_disk_takes_it(
    tmp_path: Path, outage: Outage
) -> None:
    home = Household(tmp_path / "home")
    home.folder.mkdir()
    disk = small_disk(home.state) if outage is FULL else nullcontext()
    with disk, capture_logs() as logs:
        async with living(home, DEAF) as living_box:
            assert await living_box.asked("How are you?") == ANSWER
            with outage.begins(home.state):
                await spoken_to(living_box, "how are you", 20.0)
                await spoken_to(living_box, "你好吗", 3.0)
                with pytest.raises(Problem, match="cannot be used"):
                    await living_box.asked("How are you?", "another")
                told = await tell(living_box.config.socket, {"do": "status"})
                found = await asyncio.to_thread(state, living_box.config)
            await at_rest(living_box)
        spoken = [line["words"] for line in logs if line["event"] == "sentence_started"]
    assert isinstance(told["state"], dict)
    assert (told["state"]["disk"], outage.told in found.what) == (outage.status, True)
    assert spoken == [phrase(outage.says, ""), phrase("disk_still", "你好吗"), ANSWER, ANSWER]
    assert not [line for line in logs if line["event"] == "run_failed"]
