"""One turn with one tool call: the whole loop, journal and mailbox included, a plain httpx loop, agent frameworks."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import httpx

from agent.model.openai_compatible import OpenAiCompatibleModel
from agent.tools.tool import tool
from benchmarks.figure import Figure, milliseconds, run, short
from benchmarks.floors.agent_frameworks import FRAMEWORKS, INSTRUCTIONS, look_outside
from benchmarks.model_server import LOOK, QUESTION, model_server
from benchmarks.processes import ROOT, line_of, module, speaking
from memory.json_value import Json
from tests.agent.mind import a_mind, typed

FOLDER: Final = Path(sys.prefix) / "frameworks"
"""Where the frameworks are, apart from our own packages: their dependencies are not ours."""

INSTALLED_BY: Final = f"pip install --target {FOLDER} 'pydantic-ai-slim[openai]' openai-agents 'smolagents[openai]'"

MEMORY: Final = Path("/dev/shm")

Turn = Callable[[], Awaitable[float]]
"""Returns the seconds of one more turn of the same conversation."""

TOOLS: Final = [
    {
        "type": "function",
        "function": {
            "name": LOOK,
            "description": "Look out of the window.",
            "parameters": {"type": "object", "properties": {"where": {"type": "string"}}, "required": ["where"]},
        },
    }
]

COUNTED: Final = 5
"""Turns by which those of a start are told from those of a turn."""

FIRST: Final = 3
"""Turns that are not counted: connections open, caches fill."""


def measure(*, quick: bool = False) -> Figure:
    """Ask the same question of the same server in turn, each in a conversation of its own that grows alike."""
    return asyncio.run(_measure(() if quick else tuple(FRAMEWORKS), 1 if quick else 40))


async def _measure(frameworks: tuple[str, ...], count: int) -> Figure:
    async with AsyncExitStack() as parts:
        url = parts.enter_context(model_server())
        folder = Path(parts.enter_context(tempfile.TemporaryDirectory(prefix="nakari-bench-")))
        turns = {"ours": await parts.enter_async_context(_ours(url, folder))}
        if MEMORY.is_dir() and frameworks:
            inside = Path(parts.enter_context(tempfile.TemporaryDirectory(prefix="nakari-bench-", dir=MEMORY)))
            turns["ours, its state in RAM"] = await parts.enter_async_context(_ours(url, inside))
        turns["plain"] = await parts.enter_async_context(_plain(url))
        syncs = _syncs_of_a_turn(url) if shutil.which("strace") else 0
        if syncs:
            turns["durable"] = await parts.enter_async_context(_plain(url, folder / "kept", syncs))
        peers = {name: parts.enter_context(_framework(name, url)) for name in frameworks}
        turns |= {name: turn for name, turn in peers.items() if turn is not None}
        seconds: dict[str, list[float]] = {name: [] for name in turns}
        for number in range(count + FIRST):
            for name, turn in turns.items():
                taken = await turn()
                if number >= FIRST:
                    seconds[name].append(taken)
    ours = milliseconds("the whole loop: mailbox, journal on the disk, budget, context", seconds.pop("ours"))
    plain = milliseconds("a loop of plain httpx that keeps nothing", seconds.pop("plain"))
    durable = seconds.pop("durable", None)
    floor = (
        plain if durable is None else milliseconds(f"a loop of plain httpx with the same {syncs} fdatasync", durable)
    )
    told = [f"{name}: {milliseconds('', taken)}" for name, taken in seconds.items()]
    told += [f"{name} is not here: {INSTALLED_BY}" for name, turn in peers.items() if turn is None]
    more = f"ours adds {short(ours.median - floor.median)} ms"
    if durable is not None:
        told.insert(0, f"{plain.what}: {plain}, {short(ours.median / plain.median)} ×")
    added = (
        f"two calls of a model that thinks for no time; {more}; conversations of up to {4 * (count + FIRST)} messages"
    )
    return Figure("One turn with a tool call", ours, floor, (added, *told))


@asynccontextmanager
async def _ours(url: str, folder: Path) -> AsyncIterator[Turn]:
    async def look(where: str) -> Json:
        return look_outside(where)

    look.__name__, look.__doc__ = LOOK, look_outside.__doc__
    model = OpenAiCompatibleModel(url, "m")

    async def turn() -> float:
        began = perf_counter()
        await mind.handle(typed(QUESTION))
        return perf_counter() - began

    async with a_mind(folder, [model], [tool(look, effect="pure")], system=INSTRUCTIONS) as mind:
        yield turn
    await model.aclose()


def _syncs_of_a_turn(url: str) -> int:
    """Return how often a turn of ours waits for the disk, by the kernel's account of a process that takes some."""
    counted = []
    for turns in (COUNTED, 3 * COUNTED):
        with tempfile.TemporaryDirectory(prefix="nakari-bench-") as folder:
            told = Path(folder) / "calls"
            traced = ["strace", "-f", "-qq", "-e", "trace=fdatasync,fsync", "-o", str(told)]
            command = [*traced, *module("benchmarks.agent.turn_overhead", url, str(turns))]
            subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
            counted.append(len(told.read_text().splitlines()))
    return round((counted[1] - counted[0]) / (2 * COUNTED))


async def _take(url: str, count: int) -> None:
    with tempfile.TemporaryDirectory(prefix="nakari-bench-") as folder:
        async with _ours(url, Path(folder)) as turn:
            for _ in range(count):
                await turn()


@asynccontextmanager
async def _plain(url: str, log: Path | None = None, syncs: int = 0) -> AsyncIterator[Turn]:
    """Yield the least a program can do: send the list, read the stream, call the function, send the list again.

    With a log it appends each message there, and waits for the disk so many times a turn.
    """
    kept = None if log is None else os.open(log, os.O_CREAT | os.O_APPEND | os.O_WRONLY)

    def keep(times: int) -> None:
        if kept is not None:
            os.write(kept, json.dumps(messages[-1]).encode())
            for _ in range(times):
                os.fdatasync(kept)

    messages: list[dict[str, object]] = [{"role": "system", "content": INSTRUCTIONS}]

    async def turn() -> float:
        began = perf_counter()
        messages.append({"role": "user", "content": QUESTION})
        keep(1)
        while (answer := await _answer(client, messages)).get("tool_calls"):
            for call in answer["tool_calls"]:
                seen = look_outside(**json.loads(call["function"]["arguments"]))
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": seen})
                keep(1)
        keep(max(0, syncs - 2))
        return perf_counter() - began

    async with httpx.AsyncClient(base_url=url, trust_env=False) as client:
        yield turn
    if kept is not None:
        os.close(kept)


async def _answer(client: httpx.AsyncClient, messages: list[dict[str, object]]) -> dict[str, Any]:
    """Return the next message of the model, appended to the list."""
    text, calls = "", list[dict[str, Any]]()
    body = {"model": "m", "stream": True, "stream_options": {"include_usage": True}, "tools": TOOLS}
    async with client.stream("POST", "/chat/completions", json=body | {"messages": messages}) as response:
        async for line in response.aiter_lines():
            if not line.startswith("data: {"):
                continue
            for choice in json.loads(line.removeprefix("data: "))["choices"]:
                text += choice["delta"].get("content") or ""
                for piece in choice["delta"].get("tool_calls", ()):
                    if "id" in piece:
                        calls.append(piece)
                    else:
                        calls[-1]["function"]["arguments"] += piece["function"]["arguments"]
    made = [{key: value for key, value in call.items() if key != "index"} for call in calls]
    message: dict[str, Any] = {"role": "assistant", "content": text, **({"tool_calls": made} if made else {})}
    messages.append(message)
    return message


@contextmanager
def _framework(name: str, url: str) -> Iterator[Turn | None]:
    """Yield the turn of a framework in a process of its own, None where it is not installed."""
    with speaking(module("benchmarks.floors.agent_frameworks", name, url), {"PYTHONPATH": str(FOLDER)}) as process:

        async def turn() -> float:
            assert process.stdin is not None
            process.stdin.write("\n")
            return float(line_of(process))

        yield turn if line_of(process) == LOOK else None


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1].startswith("http"):
        asyncio.run(_take(sys.argv[1], int(sys.argv[2])))
    else:
        run(measure)
