"""A conversation beside 200 streams, a quarter of them never read: what it loses, how long it takes, and memory."""

import asyncio
import json
import tempfile
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
from websockets.asyncio.client import unix_connect

from benchmarks.figure import Figure, Series, run, short
from benchmarks.processes import resident_megabytes
from tests.service.process import Household

SHOWS = ("E21", "F25")

STREAMS = 200

EVERY_SECONDS = 0.25
"""Between two questions: many times what people ask."""

NO_DEVICE: dict[str, object] = {"device": "no such device"}

QUESTION = "what is 7 times 6"

_READ = (b'"event":"heard"', b'"event":"run_finished"', b'"event":"lost"')

NEVER_READ = b"GET /stream HTTP/1.1\r\nHost: nakari\r\n\r\n"


@dataclass
class Reader:
    """What one reader was told."""

    ready: asyncio.Event = field(default_factory=asyncio.Event)
    heard: dict[str, datetime] = field(default_factory=dict)
    finished: dict[str, datetime] = field(default_factory=dict)
    """When each event came and was over, by the clock of the box."""
    lost: int = 0

    def note(self, text: bytes) -> None:
        """Take a message; of most their name is enough, and reading costs what the box then has not."""
        self.ready.set()
        if not any(name in text for name in _READ):
            return
        message: dict[str, Any] = json.loads(text)
        name, payload = message["event"], message["payload"]
        if name in {"heard", "run_finished"}:
            known = self.heard if name == "heard" else self.finished
            known[payload["event_id"]] = datetime.fromisoformat(message["at"])
        elif name == "lost":
            self.lost += payload["count"]

    async def events(self, path: str) -> None:
        """Read server-sent events."""
        there, going = await asyncio.open_unix_connection(path, limit=1_000_000)
        going.write(b"GET /stream HTTP/1.1\r\nHost: nakari\r\n\r\n")
        try:
            while line := await there.readline():
                if line.startswith(b"data: "):
                    self.note(line[6:])
        finally:
            going.close()

    async def frames(self, path: str) -> None:
        """Read a WebSocket."""
        async with unix_connect(path, "ws://nakari/ws") as socket:
            while True:
                self.note(bytes(await socket.recv(decode=False)))


def measure(*, quick: bool = False) -> Figure:
    """Converse for a while alone, for a minute beside the streams, and for a while alone again."""
    seconds, streams = (1.0, 8) if quick else (60.0, STREAMS)
    with tempfile.TemporaryDirectory(prefix="nakari-bench-") as name:
        home = Household(Path(name), {"ears": NO_DEVICE, "voice": NO_DEVICE})
        with home.running("run") as box:
            box.until("service_started")
            return asyncio.run(_measured(home.folder / "door.sock", box.process.pid, seconds, streams))


async def _measured(path: Path, pid: int, seconds: float, streams: int) -> Figure:
    transport = httpx.AsyncHTTPTransport(uds=str(path))
    async with (
        httpx.AsyncClient(transport=transport, base_url="http://nakari", timeout=60) as client,
        asyncio.TaskGroup() as group,
        AsyncExitStack() as slow,
    ):
        first, others = Reader(), [Reader() for _ in range(streams - streams // 4)]
        reading = [group.create_task(first.events(str(path)))]
        await first.ready.wait()
        await _converse(client, min(10.0, seconds))
        before, alone = resident_megabytes(pid), await _turns(client, first, seconds / 2)
        for _ in range(streams // 4):
            _, going = await asyncio.open_unix_connection(str(path), limit=1024)
            going.write(NEVER_READ)
            slow.callback(going.close)
        ways = [each.events if number % 2 else each.frames for number, each in enumerate(others)]
        reading += [group.create_task(way(str(path))) for way in ways]
        for each in others:
            await each.ready.wait()
        beside = await _turns(client, first, seconds)
        during, told = resident_megabytes(pid), (await client.get("/status")).json()["streams"]
        for task in reading:
            task.cancel()
    least = min(len(each.finished) for each in others)
    what = "from a question in the mailbox to the end of its run"
    return Figure(
        "A conversation beside 200 streams",
        Series(f"{what}, beside {streams} streams", "ms", tuple(beside)),
        Series(f"{what}, beside one", "ms", tuple(alone)),
        (
            f"{len(beside)} questions in {seconds:g} s, all answered; each of {len(others)} readers saw the end of "
            f"{least} runs at least, and they missed {sum(each.lost for each in others)} messages together",
            f"{streams // 4} never read: {told['lost']} messages lost to them and counted, {told['dropped']} left",
            f"memory {short(before)} MB before, {short(during)} MB at the end; the readers run on the same two cores",
        ),
    )


async def _turns(client: httpx.AsyncClient, reader: Reader, seconds: float) -> list[float]:
    """Converse; return how long each turn took in the box, in milliseconds."""
    reader.heard.clear()
    asked = await _converse(client, seconds)
    while len(reader.finished.keys() & reader.heard.keys()) < asked:  # noqa: ASYNC110  the last one is on its way
        await asyncio.sleep(0.1)
    return [(reader.finished[name] - at).total_seconds() * 1000 for name, at in reader.heard.items()]


async def _converse(client: httpx.AsyncClient, seconds: float) -> int:
    """Ask one question after the other; return how many."""
    asked, loop = 0, asyncio.get_running_loop()
    until = loop.time() + seconds
    while loop.time() < until:
        answer = await client.post("/ask", json={"text": QUESTION, "session": "bench", "stream": False})
        told = answer.json()
        assert (told["status"], "42" in told["text"]) == ("completed", True), told
        asked += 1
        await asyncio.sleep(EVERY_SECONDS)
    return asked


if __name__ == "__main__":
    run(measure)
