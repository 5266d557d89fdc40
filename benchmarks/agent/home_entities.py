"""What it takes to know a house of 5,000 entities: the time of reading it, against parsing its answers alone."""

import asyncio
import gc
import json
import tracemalloc
from collections.abc import Awaitable, Callable
from time import perf_counter

from agent.home.house import House, read_house
from benchmarks.figure import Figure, milliseconds, run
from memory.json_value import Json
from tests.agent.home_server import SmallHome, many

ENTITIES = 5_000

ROUNDS = 9

NAMED = "light.lamp_17"


def measure(*, quick: bool = False) -> Figure:
    """Return milliseconds of reading it from answers that are there already, and what it holds in memory."""
    server = SmallHome(many(50 if quick else ENTITIES))
    answers = {
        kind: json.dumps(server.result({"type": kind})) for kind in ("get_states", "config/entity_registry/list")
    }
    ours, against = [], []
    for _ in range(2 if quick else ROUNDS):
        began = perf_counter()
        for text in answers.values():
            json.loads(text)
        against.append(perf_counter() - began)
        began = perf_counter()
        asyncio.run(_read(answers))
        ours.append(perf_counter() - began)
    size = sum(map(len, answers.values())) / 1e6
    return Figure(
        "A house of 5,000 entities, read",
        milliseconds("its answers parsed, and every name, place and danger known", ours),
        milliseconds("its answers parsed, alone", against),
        (f"{size:.1f} MB of answers; {_held(answers) / 1e6:.1f} MB stay in memory.",),
    )


async def _read(answers: dict[str, str]) -> House:
    house = await read_house(_asked(answers))
    assert NAMED in house.entities
    assert house.guarded["lock.entrance"] == "lock"
    return house


def _asked(answers: dict[str, str]) -> Callable[..., Awaitable[Json]]:
    async def ask(kind: str, **_: Json) -> Json:
        value: Json = await asyncio.to_thread(json.loads, answers.get(kind, "null"))
        return value

    return ask


def _held(answers: dict[str, str]) -> int:
    """Return the bytes that the house keeps."""
    gc.collect()
    tracemalloc.start()
    house = asyncio.run(_read(answers))
    gc.collect()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert house.entities
    return held


if __name__ == "__main__":
    run(measure)
