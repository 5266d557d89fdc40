"""What it costs to lose nothing: an event put, taken and acknowledged, each on the disk when it returns; and Redis."""

import asyncio
import json
import os
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, sleep

from agent.event import Event
from agent.mailbox import SCHEMA, Mailbox
from benchmarks.figure import Figure, Series, milliseconds, run
from memory.state.database import Database
from tests.engine_servers import redis_program

WORDS = "What time is it, and will it rain before I come home this evening?"
BODY = json.dumps({"words": WORDS, "rest": "-" * 300}).encode()
"""About what an event weighs."""


def measure(*, quick: bool = False) -> Figure:
    """Put, take and acknowledge; append the same bytes three times with fdatasync; a Redis stream, all in turn."""
    with tempfile.TemporaryDirectory(prefix="nakari-bench-") as folder, redis_stream(Path(folder)) as redis:
        return asyncio.run(_measure(Path(folder), 20 if quick else 600, redis))


async def _measure(folder: Path, count: int, redis: "Stream | None") -> Figure:
    database = Database(folder / "nakari.db")
    await database.open(SCHEMA)
    mailbox = Mailbox(database)
    puts, acks, woken, floor, theirs = [], [], [], [], []
    log = os.open(folder / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        for _ in range(count):
            event = Event("user_text", WORDS)
            began = perf_counter()
            await mailbox.enqueue(event)
            put = perf_counter()
            await mailbox.take()
            await mailbox.complete(event.id, "answered", {})
            puts.append(put - began)
            acks.append(perf_counter() - put)
            woken.append(await _woken_after(mailbox))
            floor.append(sum(_append(log) for _ in range(3)))
            if redis is not None:
                theirs.append(_timed(redis.put_take_acknowledge))
    finally:
        os.close(log)
        await database.close()
    whole = milliseconds("an event put, taken and acknowledged (three commits)", map(sum, zip(puts, acks, strict=True)))
    bare = milliseconds("the same bytes appended three times, each with fdatasync", floor)
    sleeper = f"who sleeps is woken {milliseconds('', woken)} after the put"
    return Figure("Durable put, take and acknowledge", whole, bare, (sleeper, *_notes(whole, puts, acks, theirs)))


async def _woken_after(mailbox: Mailbox) -> float:
    """Return the seconds from an event that is put to its taking by who slept until then."""
    async with asyncio.TaskGroup() as together:
        taken = together.create_task(mailbox.take())
        await mailbox.counts()  # answered after the look of `take`, which therefore sleeps now
        await mailbox.enqueue(Event("user_text", WORDS))
        began = perf_counter()
        hand = await taken
        woken = perf_counter() - began
    await mailbox.complete(hand.event.id, "answered", {})
    return woken


def _notes(whole: Series, puts: list[float], acks: list[float], theirs: list[float]) -> tuple[str, ...]:
    parts = f"put {milliseconds('', puts)}, take and acknowledge {milliseconds('', acks)}"
    if not theirs:
        return (parts, "no redis-server here: scripts/setup --test installs one")
    peer = milliseconds("", theirs)
    told = f"Redis stream (appendfsync always): {peer}; ours is {whole.median / peer.median:.2f} × that"
    return (parts, told, "Redis answers over its socket from another process, and keeps no one-in-hand rule.")


class Stream:
    """A Redis stream with a consumer group, spoken to in its own protocol."""

    def __init__(self, server: socket.socket) -> None:
        self._server = server
        self._answers = server.makefile("rb")
        self._command(b"XGROUP", b"CREATE", b"mail", b"mind", b"$", b"MKSTREAM")

    def put_take_acknowledge(self) -> None:
        """Append an event, deliver it to the group, acknowledge it: three writes, each on the disk when answered."""
        name = self._command(b"XADD", b"mail", b"*", b"event", BODY)
        self._command(b"XREADGROUP", b"GROUP", b"mind", b"one", b"COUNT", b"1", b"STREAMS", b"mail", b">")
        assert self._command(b"XACK", b"mail", b"mind", name) == b"1"

    def _command(self, *words: bytes) -> bytes:
        """Send a command; return the last value of its answer. Raises RuntimeError for an error."""
        parts = b"".join(b"$%d\r\n%b\r\n" % (len(word), word) for word in words)
        self._server.sendall(b"*%d\r\n%b" % (len(words), parts))
        return self._value()

    def _value(self) -> bytes:
        line = self._answers.readline().rstrip(b"\r\n")
        kind, rest = line[:1], line[1:]
        if kind == b"-":
            raise RuntimeError(rest.decode())
        if kind == b"$":
            return self._answers.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return [self._value() for _ in range(int(rest))][-1]
        return rest


@contextmanager
def redis_stream(folder: Path) -> "Iterator[Stream | None]":
    """Run a Redis server in a folder, which syncs every write before it answers; None where there is none."""
    program = redis_program()
    if program is None:
        yield None
        return
    path = folder / "redis.sock"
    settings = ["--port", "0", "--unixsocket", str(path), "--dir", str(folder), "--save", "", "--appendonly", "yes"]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(
        ["redis-server", *settings, "--appendfsync", "always"], executable=program, stdout=quiet, stderr=quiet
    ) as server:
        try:
            with _connected(path, server) as connection:
                yield Stream(connection)
        finally:
            server.terminate()


def _connected(path: Path, server: "subprocess.Popen[bytes]") -> socket.socket:
    while server.poll() is None:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(str(path))
        except OSError:
            connection.close()
            sleep(0.02)
            continue
        return connection
    raise RuntimeError("redis-server did not start")


def _timed(work: Callable[[], None]) -> float:
    began = perf_counter()
    work()
    return perf_counter() - began


def _append(log: int) -> float:
    """Return the seconds it takes to put about what an event weighs onto the disk."""
    began = perf_counter()
    os.write(log, BODY)
    os.fdatasync(log)
    return perf_counter() - began


if __name__ == "__main__":
    run(measure)
