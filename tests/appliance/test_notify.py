"""sd_notify over real datagram sockets, and a watchdog that cannot be fooled."""

import asyncio
import os
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import ParamSpec, TypeVar

import pytest
from structlog.testing import capture_logs

from appliance.notify import FEEDS_PER_INTERVAL, HeartBeat, Notifier, Watchdog

P = ParamSpec("P")
T = TypeVar("T")


class Clock:
    """Seconds that pass only when somebody sleeps; the sleep after the last one never ends."""

    def __init__(self, sleeps: int = 0) -> None:
        self.now = 100.0
        self.left = sleeps
        self.over = asyncio.Event()

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.left -= 1
        if self.left < 0:
            self.over.set()
            await asyncio.Event().wait()


class AtOnce(Executor):
    """A thread that is never busy: what it is given is done at once."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> "Future[T]":
        done = Future[T]()
        done.set_result(fn(*args, **kwargs))
        return done


@pytest.fixture(params=["file", "abstract"])
def systemd(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[socket.socket, str]]:
    """The supervisor's end: the socket, and its name as NOTIFY_SOCKET gives it."""
    name = str(tmp_path / "notify") if request.param == "file" else f"@nakari-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(name.replace("@", "\0"))
        receiver.settimeout(5)
        yield receiver, name


def received(receiver: socket.socket) -> list[str]:
    """Return what has arrived, in order."""
    receiver.setblocking(False)
    messages = []
    while True:
        try:
            messages.append(receiver.recv(4096).decode())
        except BlockingIOError:
            return messages


@pytest.mark.shows("H2")
def test_systemd_hears_every_word(systemd: tuple[socket.socket, str]) -> None:
    receiver, name = systemd
    notifier = Notifier(name, AtOnce())
    notifier.ready()
    notifier.ready("listening")
    notifier.status("thinks\nabout\x0bit 想")
    notifier.alive()
    notifier.stopping()
    assert received(receiver) == [
        "READY=1",
        "READY=1\nSTATUS=listening",
        "STATUS=thinks about it 想",
        "WATCHDOG=1",
        "STOPPING=1",
    ]


def test_without_a_supervisor_nothing_is_sent_and_nothing_is_said() -> None:
    with capture_logs() as logs:
        Notifier("").ready()
    assert logs == []


def test_a_supervisor_that_is_gone_is_a_warning(tmp_path: Path) -> None:
    with capture_logs() as logs:
        Notifier(str(tmp_path / "gone"), AtOnce()).ready()
    assert [line["event"] for line in logs] == ["supervisor_unreachable"]
    assert "No such file" in logs[0]["reason"]


def fill(name: str) -> list[socket.socket]:
    """Fill a queue until a fresh socket cannot send either; the senders, whose own buffers fill first, stay open."""
    senders: list[socket.socket] = []
    sent = 1
    while sent:
        sent = 0
        senders.append(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        senders[-1].setblocking(False)
        with suppress(BlockingIOError):
            while True:
                sent += senders[-1].sendto(b"x", name.replace("@", "\0"))
    return senders


def test_a_supervisor_that_does_not_read_holds_nobody_up_and_hears_all_once_it_does(
    systemd: tuple[socket.socket, str],
) -> None:
    receiver, name = systemd
    senders = fill(name)
    with ThreadPoolExecutor(1) as thread:
        Notifier(name, thread).ready()
        heard = received(receiver)  # which makes room
    for sender in senders:
        sender.close()
    assert [*heard, *received(receiver)][-1] == "READY=1", "it waited for room, and whoever said it did not"


async def fed(watchdog: Watchdog, clock: Clock) -> None:
    """Run the watchdog until its clock is used up."""
    async with asyncio.TaskGroup() as group:
        running = group.create_task(watchdog.run())
        await clock.over.wait()
        running.cancel()


@pytest.mark.shows("H2", "F32")
async def test_fed_while_every_beat_is_fresh(systemd: tuple[socket.socket, str]) -> None:
    receiver, name = systemd
    clock = Clock(sleeps=5)
    ears = HeartBeat("ears", 100.0, clock)
    ears.stepped()
    await fed(Watchdog(Notifier(name, AtOnce()), 30.0, [ears, HeartBeat("loop", 1.0, clock)], clock.sleep), clock)
    assert received(receiver) == ["WATCHDOG=1"] * 6
    assert clock.now - 100.0 == pytest.approx(6 * 30.0 / FEEDS_PER_INTERVAL)


@pytest.mark.shows("H2", "F32")
async def test_a_stuck_part_starves_it_and_is_named_once(systemd: tuple[socket.socket, str]) -> None:
    receiver, name = systemd
    clock = Clock(sleeps=5)
    ears, loop = HeartBeat("ears", 15.0, clock), HeartBeat("loop", 1000.0, clock)
    ears.stepped()
    loop.stepped()
    with capture_logs() as logs:
        await fed(Watchdog(Notifier(name, AtOnce()), 30.0, [ears, loop], clock.sleep), clock)
    assert received(receiver) == ["WATCHDOG=1", "WATCHDOG=1", "STATUS=stuck: ears"]
    assert [(line["event"], line.get("parts")) for line in logs] == [("heart_beat_missed", ("ears",))]


def test_a_part_that_comes_back_is_told_and_fed(systemd: tuple[socket.socket, str]) -> None:
    receiver, name = systemd
    clock = Clock()
    ears = HeartBeat("ears", 15.0, clock)
    watchdog = Watchdog(Notifier(name, AtOnce()), 30.0, [ears])
    ears.stepped()
    clock.now += 15.1
    watchdog.look()
    ears.stepped()
    watchdog.look()
    assert received(receiver) == ["STATUS=stuck: ears", "WATCHDOG=1", "STATUS=running"]


def test_a_part_at_rest_has_no_age() -> None:
    clock = Clock()
    beat = HeartBeat("loop", 1.0, clock)
    assert beat.age == 0.0
    beat.stepped()
    clock.now += 3.0
    assert beat.age == 3.0
    beat.rested()
    assert beat.age == 0.0


async def test_where_nobody_waits_nobody_is_fed(systemd: tuple[socket.socket, str]) -> None:
    receiver, name = systemd
    await Watchdog(Notifier(name, AtOnce()), 0.0, []).run()
    assert received(receiver) == []
