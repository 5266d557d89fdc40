"""The memory of the appliance at rest, part by part, against a bare program with the same two models."""

import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from benchmarks.figure import Figure, Series, run, short
from benchmarks.models import SILERO
from benchmarks.processes import all_megabytes, line_of, module, parts_of, resident_megabytes, speaking
from benchmarks.sound import quiet_room, write_wav
from tests.service.process import HOUSEHOLD, Household

SHOWS = ("H9",)

SETTLING = 20.0
"""Seconds after the start in which it still loads what nobody waits for."""

LATER = ("the token vocabulary, once a conversation is long", "litellm, where it is used")
"""Parts of these names in `benchmarks/floors/parts.py`, which the appliance measured here does without."""


def measure(*, quick: bool = False) -> Figure:
    """Start each in turn and read what it holds in RAM once it listens."""
    with tempfile.TemporaryDirectory(prefix="nakari-bench-") as folder:
        room = write_wav(Path(folder) / "room.wav", quiet_room(20.0))
        appliances, floors = [], []
        for number in range(1 if quick else 3):
            appliances.append(_appliance(Path(folder) / str(number), room, 0.0 if quick else SETTLING))
            with speaking(module("benchmarks.floors.listener", str(SILERO), str(HOUSEHOLD))) as bare:
                line_of(bare)
                floors.append(resident_megabytes(bare.pid))
    ours, store = zip(*appliances, strict=True)
    parts = _parts(with_later=not quick)
    later = {part: parts.pop(part) for part in LATER if part in parts}
    listening = Series("nakari run, listening", "MB", ours)
    parts["the rest"] = listening.median - sum(parts.values())
    notes = (
        f"part after part: {_named(parts)}{f'; not loaded here: {_named(later)} more' if later else ''}",
        f"the store's own process: {Series('', 'MB', store)}",
    )
    bare_ones = Series("a bare program with the same models", "MB", tuple(floors))
    return Figure("Memory at rest", listening, bare_ones, notes)


def _appliance(folder: Path, room: Path, settling: float) -> tuple[float, float]:
    """Return the memory of the appliance and of its store, so many seconds after the last of it is ready."""
    home = Household(folder, {"memory": {"enabled": True}})
    with home.running("run", "--input", str(room), "--output", str(folder / "answer.wav")) as running:
        for ready in ("service_started", "recognizer_ready", "graph_store_started"):
            running.until(ready)
        time.sleep(settling)
        own, store = parts_of(running.process.pid)
        return all_megabytes(own), all_megabytes(store)


def _named(parts: Mapping[str, float]) -> str:
    return ", ".join(f"{part} {short(megabytes)}" for part, megabytes in parts.items())


def _parts(*, with_later: bool) -> dict[str, float]:
    """Return what each part adds, in megabytes, in the order in which the program loads them."""
    parts, before = {}, 0.0
    with speaking(module("benchmarks.floors.parts", str(HOUSEHOLD), *(["later"] if with_later else []))) as process:
        while (part := line_of(process)) != "all":
            now = resident_megabytes(process.pid)
            parts[part], before = now - before, now
            assert process.stdin is not None
            process.stdin.write("\n")
    return parts


if __name__ == "__main__":
    run(measure)
