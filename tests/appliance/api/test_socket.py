"""Taking the socket's place: living and dead processes, foreign files, and the client that finds nobody."""

import asyncio
import grp
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import get_args

import pytest

from appliance.api.client import Question, answer_to, find_service, tell
from appliance.api.outcome import Outcome, Status
from appliance.errors import AlreadyRunning, Exit, Problem, ServiceNotRunning
from appliance.http.socket import is_shared, listener_at
from memory.json_value import Json
from tests.appliance.door_fakes import ScriptedHandler, doors_of, serving
from tests.room.virtual_time import run_virtually, until

ROOT = Path(__file__).resolve().parents[3]
HOLDER = """
import sys
from pathlib import Path
from tests.appliance.door_fakes import ScriptedHandler, doors_of
doors_of(Path(sys.argv[1]), ScriptedHandler()).open()
print("open", flush=True)
sys.stdin.read()
"""

CROWDED = """
import asyncio, os, socket, sys
from pathlib import Path
from appliance.api.client import tell
from appliance.logs import configure as logs
from appliance.config.load import load
from tests.appliance.door_fakes import ScriptedHandler, serving

async def main():
    path = Path(sys.argv[1])
    logs.configure(load(environ={"HOME": sys.argv[2]}), sys.stderr)
    async with serving(path, ScriptedHandler()):
        await tell(path, {"do": "status"})
        caller = socket.socket(socket.AF_UNIX)
        caller.setblocking(False)
        caller.connect(str(path))
        caller.send(b"GET /ping HTTP/1.1\\r\\nhost: n\\r\\nconnection: close\\r\\n\\r\\n")
        taken = []
        try:
            while True:
                taken.append(os.dup(0))
        except OSError:
            pass
        asyncio.get_running_loop().call_later(0.2, lambda: [os.close(number) for number in taken])
        print((await asyncio.get_running_loop().sock_recv(caller, 100)).decode().partition("\\r\\n")[0])
        caller.close()

asyncio.run(main())
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "nakari.sock"


@pytest.fixture
def other(path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Another process that has opened the same door."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, path], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"open\n"
        yield process
        process.kill()


def is_left(path: Path) -> bool:
    return path.is_socket()


@pytest.mark.usefixtures("other")
def test_a_second_one_is_told_that_the_first_lives(path: Path) -> None:
    with pytest.raises(AlreadyRunning, match="another nakari is running here") as caught:
        doors_of(path, ScriptedHandler()).open()
    assert caught.value.code is Exit.ALREADY_RUNNING
    assert path.exists()


def test_a_process_out_of_descriptors_keeps_its_door(path: Path, tmp_path: Path) -> None:
    crowded = subprocess.run(
        ["sh", "-c", 'ulimit -n 64; exec "$@"', "sh", sys.executable, "-c", CROWDED, path, tmp_path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert crowded.stdout.splitlines()[-1] == "HTTP/1.1 200 OK", crowded.stderr


@pytest.mark.shows("A24")
async def test_the_place_of_a_killed_one_is_taken(path: Path, other: subprocess.Popen[bytes]) -> None:
    os.kill(other.pid, signal.SIGKILL)
    other.wait()
    assert is_left(path)
    async with serving(path, ScriptedHandler()):
        assert await tell(path, {"do": "status"}) == {"state": "listening", "pending": 2}


def test_a_socket_of_another_program_is_left_alone(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as foreign:
        foreign.bind(str(path))
        foreign.listen(0)
        callers = [socket.socket(socket.AF_UNIX) for _ in range(3)]
        for expected in ("its queue empty", "its queue full"):
            with pytest.raises(AlreadyRunning, match="another program answers at"):
                doors_of(path, ScriptedHandler()).open()
            for caller in callers:
                caller.setblocking(False)
                caller.connect_ex(str(path))
            assert path.exists(), expected
        for caller in callers:
            caller.close()


def _a_file(path: Path) -> None:
    path.write_text("precious", encoding="utf-8")


def _a_folder_that_is_a_file(path: Path) -> None:
    path.parent.rmdir()
    path.parent.touch()


@pytest.mark.parametrize(
    ("arrange", "sentence"),
    [
        (_a_file, r"is there and is no socket; move it away, or set \[door\] socket"),
        (Path.mkdir, r"is there and is no socket"),
        (_a_folder_that_is_a_file, r"cannot be made: .*; make its folder writable, or set another path"),
    ],
)
def test_what_is_in_the_way_is_said_and_kept(tmp_path: Path, arrange: Callable[[Path], None], sentence: str) -> None:
    path = tmp_path / "run" / "nakari.sock"
    path.parent.mkdir()
    arrange(path)
    with pytest.raises(Problem, match=sentence) as caught:
        doors_of(path, ScriptedHandler()).open()
    assert caught.value.code is Exit.CANNOT_CREATE
    assert path.exists() or path.parent.is_file()


def test_a_path_that_linux_cannot_bind_is_said(tmp_path: Path) -> None:
    with pytest.raises(Problem, match=r"longer than the 107 bytes Linux allows; set a shorter one") as caught:
        doors_of(tmp_path / ("x" * 120) / "nakari.sock", ScriptedHandler()).open()
    assert caught.value.code is Exit.CONFIG


def test_closing_twice_is_closing_once_and_frees_the_place(path: Path) -> None:
    door = doors_of(path, ScriptedHandler())
    door.open()
    door.close()
    door.close()
    again = doors_of(path, ScriptedHandler())
    again.open()
    again.close()


async def test_the_first_service_that_answers_is_found(path: Path, tmp_path: Path) -> None:
    missing, stale = tmp_path / "missing.sock", tmp_path / "stale.sock"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(stale))
    async with serving(path, ScriptedHandler()):
        found = await asyncio.to_thread(find_service, (missing, stale, tmp_path, tmp_path / ("x" * 200), path))
    assert found == path


async def test_nobody_there_is_an_error_of_its_own(path: Path) -> None:
    with pytest.raises(ServiceNotRunning, match=r"no nakari is running \(.*nakari\.sock\); start it with `nakari run`"):
        find_service((path,))
    with pytest.raises(ServiceNotRunning):
        await tell(path, {"do": "status"})
    with pytest.raises(ServiceNotRunning):
        await anext(answer_to(path, Question("hello")))


async def test_the_client_hears_the_whole_answer(path: Path) -> None:
    handler = ScriptedHandler(pieces=["one ", "two ", "三\n"])
    async with serving(path, handler):
        assert [piece async for piece in answer_to(path, Question("count", "kitchen"))] == ["one ", "two ", "三\n"]
    assert handler.asked == [("count", "kitchen")]


@pytest.mark.parametrize("status", get_args(Status))
async def test_the_client_hears_how_a_question_stands_that_was_not_completed(path: Path, status: Status) -> None:
    outcome = Outcome(status, "event-7", "nobody could")
    async with serving(path, ScriptedHandler(pieces=["Later."], outcome=outcome)):
        assert [piece async for piece in answer_to(path, Question("count"))] == ["Later.", outcome]


async def test_the_client_passes_a_failure_on(path: Path) -> None:
    async with serving(path, ScriptedHandler(error=Problem("no disk left", Exit.CANNOT_CREATE))):
        with pytest.raises(Problem, match="no disk left"):
            await tell(path, {"do": "status"})
        with pytest.raises(Problem, match="no disk left"):
            _ = [piece async for piece in answer_to(path, Question("x"))]


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n\r\n"


def chunk(said: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(said), said)


@pytest.mark.parametrize(
    "said",
    [
        b"",
        HEAD,
        HEAD + chunk(b'{"event": "text_chunk", "chunk": "half"}\n'),
        HEAD + chunk(b'{"event": "text_chunk", "chunk": "half"}\n') + chunk(b""),
        HEAD + chunk(b"no json\n"),
        HEAD + chunk(b'{"half": '),
        b"no HTTP at all\r\n\r\n",
    ],
)
async def test_a_service_that_dies_in_mid_answer_is_no_answer(path: Path, said: bytes) -> None:
    async def die(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"POST /requests/ask HTTP/1.1\r\n")
        writer.write(said)
        writer.close()

    async with await asyncio.start_unix_server(die, path):
        with pytest.raises(Problem, match="went away in mid-answer") as caught:
            _ = [piece async for piece in answer_to(path, Question("x"))]
        for _ in range(10):  # httpx leaves generators that were not read to their end to the event loop
            await asyncio.sleep(0)
    assert caught.value.code is Exit.UNAVAILABLE
    assert not isinstance(caught.value, ServiceNotRunning)


async def test_a_service_that_is_stuck_is_not_waited_for(path: Path) -> None:
    over = asyncio.Event()

    async def say_nothing(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await over.wait()
        writer.close()

    async with await asyncio.start_unix_server(say_nothing, path):
        with pytest.raises(Problem, match="does not answer") as caught:
            await tell(path, {"do": "status"}, 0.05)
        over.set()
    assert caught.value.code is Exit.UNAVAILABLE


def test_a_service_that_takes_its_time_on_a_slow_box_is_waited_for(path: Path) -> None:
    async def answer_late(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        await until(asyncio.get_running_loop().time() + 20.0)
        writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"up": 1}')
        writer.close()

    async def asked() -> dict[str, Json]:
        async with await asyncio.start_unix_server(answer_late, path):
            return await tell(path, {"do": "status"})

    assert run_virtually(asked()) == {"up": 1}


async def test_a_door_that_closes_ends_the_answers_under_way(path: Path) -> None:
    handler = ScriptedHandler(hold=asyncio.Event())
    answer = answer_to(path, Question("think hard"))
    async with serving(path, handler):
        assert await anext(answer) == "It is "
    assert handler.closed.is_set()
    with pytest.raises(Problem, match="went away in mid-answer"):
        await anext(answer)


async def test_a_door_opens_itself_where_nobody_did(path: Path) -> None:
    async with asyncio.TaskGroup() as group:
        door = group.create_task(doors_of(path, ScriptedHandler()).run())
        await asyncio.to_thread(_appeared, path)
        assert await tell(path, {"do": "status"}) == {"state": "listening", "pending": 2}
        door.cancel()


def _appeared(path: Path) -> None:
    """Return once a service answers; the test's deadline is the limit."""
    while True:
        try:
            find_service((path,))
        except ServiceNotRunning:
            continue
        return


@pytest.mark.parametrize(
    ("mode", "group", "socket_mode"),
    [(0o750, "ours", 0o660), (0o700, "ours", 0o600), (0o750, "another", 0o600), (0o755, "another", 0o600)],
)
def test_a_folder_that_is_the_group_s_opens_the_socket_to_it(
    tmp_path: Path, mode: int, group: str, socket_mode: int
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    folder.chmod(mode)
    mine = grp.getgrgid(folder.stat().st_gid).gr_name
    path, umask = folder / "nakari.sock", os.umask(0o077)
    try:
        with listener_at(path, mine if group == "ours" else "nobody-has-this-one"):
            assert stat.S_IMODE(path.stat().st_mode) == socket_mode
    finally:
        os.umask(umask)


def test_a_folder_that_is_not_there_is_nobody_s(tmp_path: Path) -> None:
    assert not is_shared(tmp_path / "gone")
