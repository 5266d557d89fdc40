"""Fifty households on one machine, a process each: memory, processor, disk, and how long one of them waits."""

import asyncio
import random
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from msgspec import Struct

from agent.context.tokens import TokenCounter
from appliance.api.client import Question, answer_to
from benchmarks.figure import Figure, milliseconds, run, short
from benchmarks.processes import cpu_seconds, parts_of, resident_megabytes
from tests.agent.openai_server import OpenAiServer, Recorded, Scripted, reply, text
from tests.service.process import Household, Running

SHOWS = ("H10", "H9")

NO_DEVICE: dict[str, object] = {"device": "no such device"}
"""Makes any machine one without: they hear by satellites, pages and programs."""

MINUTE = 60.0
COUNT: Final = 50
NAME: Final = "A household among many, asked"
PAUSE: Final = 20.0
"""Seconds of a person between an answer and the next question, on average."""


class Spent(Struct, frozen=True):
    """What a process used in a window, for each second of it."""

    cpu: float
    """Seconds."""
    wakeups: float
    written: float
    """Bytes to the disk."""


class One(Struct, frozen=True):
    """A household that runs."""

    home: Household
    running: Running

    @property
    def processes(self) -> tuple[int, int]:
        """The service's and the graph store's process."""
        (service, *_), (store, *_) = parts_of(self.running.process.pid)
        return service, store

    async def answer(self) -> float:
        """Ask something in writing; return the seconds until the answer is whole."""
        began = time.perf_counter()
        words = [piece async for piece in answer_to(self.home.folder / "door.sock", Question("Is it dry outside?"))]
        assert "".join(each for each in words if isinstance(each, str)).strip() == "Yes, of course."
        return time.perf_counter() - began


def measure(*, quick: bool = False) -> Figure:
    """Start them one after the other, look at them at rest, and let more and more of them talk."""
    return asyncio.run(_measure(2 if quick else COUNT, 0.01 if quick else 1.0))


async def _measure(count: int, scale: float) -> Figure:
    COUNTER.load()
    asked = max(2, round(10 * scale))
    with tempfile.TemporaryDirectory(prefix="nakari-bench-") as folder, ExitStack() as running:
        async with OpenAiServer() as server:
            server.default = _answer
            first = await _start(Path(folder) / "0", server.url, running)
            await asyncio.sleep(15 * scale)
            memory = [(resident_megabytes(pid), _proportional(pid)) for pid in first.processes]
            alone_idle = await _spent([first], 30 * scale)
            await first.answer()  # what its first turn loads is loaded
            server.requests.clear()
            alone = [await first.answer() for _ in range(asked)]
            tokens = [_tokens(request) for request in server.requests]
            server.requests.clear()
            spent = await _spent([first], 0.0, lambda: _repeat(first, asked))
            rest = [await _start(Path(folder) / str(number), server.url, running) for number in range(1, count)]
            all_of_them = [first, *rest]
            await asyncio.sleep(15 * scale)
            server.requests.clear()
            idle = await _spent(all_of_them, 60 * scale)
            unasked = len(server.requests)
            shares = [[_proportional(pid) for pid in each.processes] for each in all_of_them]
            among = [await first.answer() for _ in range(asked)]
            mixes = [
                await _mix(all_of_them[:talking], 60 * scale)
                for talking in (5, 10, 25, 50)
                if talking <= count or talking == 5
            ]
    resident = [sum(of) / count for of in zip(*shares, strict=True)]
    return Figure(
        NAME,
        milliseconds(f"a question in writing, whole answer, beside {count - 1} that rest", among),
        milliseconds("the same household, alone on the machine", alone),
        (
            f"memory of one alone: service {short(memory[0][0])} MB in RAM (its share {short(memory[0][1])}), graph "
            f"store {short(memory[1][0])} (its share {short(memory[1][1])}); of {count}: service {short(resident[0])}, "
            f"graph store {short(resident[1])} MB each, shared pages divided",
            f"at rest, one alone: {_at_rest(alone_idle)}; each of {count}: {_at_rest(idle, count)}",
            f"a turn: {short(spent[0].cpu / asked * 1000)} ms of processor time in the service, "
            f"{short(spent[1].cpu / asked * 1000)} in the graph store, "
            f"{short(spent[0].written / asked / 1000)} kB written; "
            f"{len(tokens)} model calls for {len(alone)} turns, the first of {tokens[0]} tokens as JSON, the "
            f"last of {tokens[-1]}; {unasked} model calls of all of them at rest",
            *(f"{mix}" for mix in mixes),
        ),
    )


def _answer(request: Recorded) -> Scripted:
    tools = [tool["function"]["name"] for tool in request.json.get("tools", [])]
    return reply("Yes, of course.") if "reply" in tools else text("Yes, of course.")


async def _start(folder: Path, url: str, running: ExitStack) -> One:
    home = Household(
        folder,
        {
            "ears": NO_DEVICE,
            "voice": NO_DEVICE,
            "memory": {"enabled": True},
            "model": {"provider": "openai", "base_url": url, "name": "m"},
        },
    )
    one = One(home, await asyncio.to_thread(running.enter_context, home.running("run")))
    for ready in ("service_started", "graph_store_started"):
        await asyncio.to_thread(one.running.until, ready)
    return one


async def _spent(
    households: Sequence[One], seconds: float, meanwhile: Callable[[], Awaitable[object]] | None = None
) -> list[Spent]:
    """Return what the services and the stores together spend within so many seconds, or while something is done."""
    sides = list(zip(*(each.processes for each in households), strict=True))
    began, before = time.monotonic(), [[_used(pid) for pid in side] for side in sides]
    await (meanwhile() if meanwhile else asyncio.sleep(seconds))
    took = 1.0 if meanwhile else time.monotonic() - began
    found = []
    for side, earlier in zip(sides, before, strict=True):
        used = [
            [late - early for late, early in zip(_used(pid), was, strict=True)]
            for pid, was in zip(side, earlier, strict=True)
        ]
        found.append(Spent(*(sum(of) / took for of in zip(*used, strict=True))))
    return found


async def _repeat(one: One, times: int) -> None:
    for _ in range(times):
        await one.answer()


async def _mix(talking: Sequence[One], seconds: float) -> str:
    """Let these ask, each again some time after its answer; return how long they waited."""
    waited: list[float] = []
    chance = random.Random(1)

    async def talk(one: One) -> None:
        while True:
            await asyncio.sleep(chance.expovariate(1 / (PAUSE * min(1.0, seconds / 60))))
            waited.append(await one.answer())

    try:
        async with asyncio.timeout(seconds), asyncio.TaskGroup() as group:
            for one in talking:
                group.create_task(talk(one), name="a household that talks")
    except TimeoutError:
        pass
    ordered = sorted(waited) or [0.0]
    half, most = ordered[len(ordered) // 2] * 1000, ordered[int(len(ordered) * 0.95)] * 1000
    return (
        f"{len(talking)} talking, a question each {PAUSE:g} s: {len(waited)} answers, p50 {half:.0f}, p95 {most:.0f} ms"
    )


def _tokens(request: Recorded) -> int:
    return COUNTER.count(request.raw.decode())


COUNTER: Final = TokenCounter()


def _proportional(pid: int) -> float:
    """Return the memory of a process with each shared page divided by those who share it, in 10^6 bytes."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) * 1024 / 1e6


def _used(pid: int) -> tuple[float, float, float]:
    """Return a process's processor time in seconds, how often its threads waited, and bytes it had written."""
    waits = sum(map(_waits, Path(f"/proc/{pid}/task").iterdir()))
    written = dict(line.split(": ") for line in Path(f"/proc/{pid}/io").read_text().splitlines())["write_bytes"]
    return cpu_seconds(pid), float(waits), float(written)


def _waits(thread: Path) -> int:
    """Return how often a thread waited; 0 of one that has ended since it was listed."""
    try:
        lines = (thread / "status").read_text(encoding="ascii").splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return next(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches:"))


def _at_rest(spent: Sequence[Spent], count: int = 1) -> str:
    service, store = spent
    return ", ".join(
        f"{name} {short(of.cpu / count * MINUTE)} s of one core a minute, {short(of.wakeups / count)} wake-ups "
        f"a second, {short(of.written / count * MINUTE * MINUTE / 1e6)} MB written an hour"
        for name, of in (("service", service), ("graph store", store))
    )


if __name__ == "__main__":
    run(measure)
