"""Code in bubblewrap: it reaches no network, no file and no secret, uses up nothing, and leaves nothing behind."""

import asyncio
import os
import select
import socket
from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import suppress
from pathlib import Path
from time import monotonic

import pytest
import pytest_asyncio

from agent.errors import ToolFailed
from agent.tools.confined.sandbox import MOST_OUTPUT, NO_SANDBOX, Ran, Sandbox
from tests.agent.tools.confined import hostile_code
from tests.processes import child

pytestmark = pytest.mark.shows("G7")

NOWHERE = Path("/nonexistent/socket")


@pytest_asyncio.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    made = Sandbox(NOWHERE)
    try:
        await made.run("")
    except ToolFailed as error:
        pytest.skip(str(error))
    yield made


@pytest.fixture
def secret() -> Iterator[None]:
    os.environ["NAKARI_TEST_SECRET"] = "SECRET"
    yield
    del os.environ["NAKARI_TEST_SECRET"]


def descendants(pid: int) -> list[int]:
    """Return the processes below a process, in any namespace."""
    found = []
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):  # a thread that ended meanwhile
            for inner in map(int, file.read_text().split()):
                found += [inner, *descendants(inner)]
    return found


@pytest.fixture
def others() -> set[int]:
    """The processes of other tests in this one, which stay."""
    return {*descendants(os.getpid())}


def all_running(pid: int, others: Collection[int] = ()) -> list[int]:
    """Return the processes of `STAYS_BEHIND` once all of them are there: bubblewrap's, a shell, and three Pythons."""
    while len(found := [each for each in descendants(pid) if each not in others]) < 6:
        pass
    return found


def wait_for_end(pids: list[int], seconds: float = 30.0) -> None:
    """Return when all these processes are gone; fails where one is not in time."""
    until = monotonic() + seconds
    for pid in pids:
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        try:
            assert select.select([handle], [], [], max(0.0, until - monotonic()))[0], f"{pid} goes on"
        finally:
            os.close(handle)


async def test_a_program_prints_its_answer(sandbox: Sandbox) -> None:
    assert await sandbox.run("print(sum(range(101)))") == Ran("5050\n", 0)
    assert await sandbox.run("print('你好')") == Ran("你好\n", 0)
    failed = await sandbox.run("print(1)\n1/0")
    assert failed.status == 1
    assert failed.output.startswith("1\nTraceback")
    assert "ZeroDivisionError" in failed.output
    assert (await sandbox.run("import sys; sys.exit(3)")).status == 3


async def test_nothing_of_one_piece_is_there_for_the_next(sandbox: Sandbox) -> None:
    assert (await sandbox.run("open('kept.txt', 'w').write('x'); print(open('kept.txt').read())")).output == "x\n"
    assert (await sandbox.run("import os; print(os.listdir('.'))")).output == "[]\n"


@pytest.mark.parametrize("what", hostile_code.ESCAPES)
@pytest.mark.usefixtures("secret")
async def test_no_file_no_secret_and_no_process_is_seen(sandbox: Sandbox, what: str) -> None:
    ran = await sandbox.run(hostile_code.ESCAPES[what])
    assert (ran.output.strip(), ran.status) == ("", 0)


async def test_no_network_is_there_not_even_loopback(sandbox: Sandbox) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        ran = await sandbox.run(hostile_code.LOOPBACK.format(port=server.getsockname()[1]))
    assert ran == Ran("", 0)


async def test_a_fork_bomb_stays_small(sandbox: Sandbox) -> None:
    ran = await sandbox.run(hostile_code.FORK_BOMB)
    assert int(ran.output.split()[0]) < 32


async def test_a_memory_bomb_is_an_error_of_its_own(sandbox: Sandbox) -> None:
    ran = await sandbox.run(hostile_code.MEMORY_BOMB)
    assert "MemoryError" in ran.output
    assert ran.status == 1


async def test_the_disk_is_not_filled(sandbox: Sandbox) -> None:
    ran = await sandbox.run(hostile_code.DISK_BOMB)
    assert int(ran.output.split()[0]) < 40_000_000


async def test_endless_output_is_cut_and_ended(sandbox: Sandbox, others: set[int]) -> None:
    ran = await sandbox.run(hostile_code.ENDLESS_OUTPUT)
    assert (len(ran.output), ran.status, ran.is_cut) == (MOST_OUTPUT, None, True)
    assert {*descendants(os.getpid())} <= others


async def test_an_endless_loop_is_ended(sandbox: Sandbox, others: set[int]) -> None:
    assert await Sandbox(NOWHERE, 1.0).run(hostile_code.ENDLESS_LOOP) == Ran("began\n", None)
    assert {*descendants(os.getpid())} <= others


async def test_what_is_cancelled_leaves_nothing_behind(sandbox: Sandbox, others: set[int]) -> None:
    async with asyncio.TaskGroup() as group:
        running = group.create_task(sandbox.run(hostile_code.STAYS_BEHIND), name="stays behind")
        pids = await asyncio.to_thread(all_running, os.getpid(), others)
        running.cancel()
    await asyncio.to_thread(wait_for_end, pids)


async def test_a_parent_that_is_killed_leaves_nothing_behind(sandbox: Sandbox) -> None:
    async with child("tests.agent.tools.confined.sandbox_process", str(NOWHERE)) as running:
        pids = await asyncio.to_thread(all_running, running.pid)
        await running.kill()
    await asyncio.to_thread(wait_for_end, pids)


async def test_without_any_sandbox_nothing_is_run_and_one_sentence_says_what_it_needs(tmp_path: Path) -> None:
    with pytest.raises(ToolFailed) as refused:
        await Sandbox(NOWHERE, programs=str(tmp_path)).run("print(1)")
    assert str(refused.value) == NO_SANDBOX


@pytest.fixture
def refused(tmp_path: Path) -> str:
    """A bubblewrap as it is inside nakari.service, to which the kernel gives nothing."""
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\ncat >/dev/null\necho 'bwrap: Creating new namespace failed' >&2\nexit 1\n")
    program.chmod(0o755)
    tmp_path.chmod(0o755)
    return f"{tmp_path}:/usr/bin:/bin"


async def test_bubblewrap_that_gets_no_namespaces_is_no_sandbox(refused: str) -> None:
    with pytest.raises(ToolFailed, match=r"nakari-code\.socket.*Creating new namespace failed"):
        await Sandbox(NOWHERE, programs=refused).run("print(1)")


async def test_a_socket_that_hangs_up_is_told(tmp_path: Path) -> None:
    """What a unit that does not begin looks like from here."""

    async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.abort()

    async with await asyncio.start_unix_server(hang_up, tmp_path / "socket"):
        assert await Sandbox(tmp_path / "socket").run("print(1)") == Ran("", None)
