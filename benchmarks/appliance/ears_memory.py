"""The memory and the start of ears whose mind is on another machine, against a whole box, in one run."""

import tempfile
import time
from pathlib import Path

from benchmarks.figure import Figure, Series, run
from benchmarks.processes import all_megabytes, parts_of
from benchmarks.sound import quiet_room, write_wav
from tests.engine_servers import nats_program, nats_server
from tests.service.process import Household

SHOWS = ("H10",)

SETTLING = 4.0
"""Seconds after the start in which it still loads what nobody waits for."""


def measure(*, quick: bool = False) -> Figure:
    """Start each in turn over a real server of NATS, and read what it holds in RAM once it listens."""
    settling = 0.0 if quick else SETTLING
    with tempfile.TemporaryDirectory(prefix="nakari-bench-") as name:
        folder = Path(name)
        room = write_wav(folder / "room.wav", quiet_room(20.0))
        server = nats_server(folder / "nats") if nats_program() else None
        url = server.url if server else "nats://127.0.0.1:9"
        if server:
            server.start()
        machines: dict[str, object] = {"url": url, "role": "ears", "name": "kitchen"}
        try:
            ears, boxes = [], []
            for number in range(1 if quick else 3):
                ears.append(_started(Household(folder / f"ears{number}", {"machines": machines}), room, settling))
                whole = Household(folder / f"box{number}", {"memory": {"enabled": True}})
                boxes.append(_started(whole, room, settling))
        finally:
            if server:
                server.kill()
    ours, starts, _ = zip(*ears, strict=True)
    theirs, whole_starts, stores = zip(*boxes, strict=True)
    notes = (
        f"start to words that can be understood: {Series('', 's', starts)} against {Series('', 's', whole_starts)}",
        f"the whole box's store, a process of its own, takes {Series('', 'MB', stores)} besides",
    )
    listening = Series("nakari run --role ears, listening", "MB", ours)
    return Figure("Ears of a mind elsewhere", listening, Series("a whole box, listening", "MB", theirs), notes)


def _started(home: Household, room: Path, settling: float) -> tuple[float, float, float]:
    """Return the memory of a box, its seconds to the recognizer, and the memory of its store."""
    began = time.perf_counter()
    with home.running("run", "--input", str(room), "--output", str(home.folder / "answer.wav")) as running:
        running.until("recognizer_ready")
        seconds = time.perf_counter() - began
        if home.settings.get("memory"):
            running.until("graph_store_started")
        time.sleep(settling)
        own, store = parts_of(running.process.pid)
        return all_megabytes(own), seconds, all_megabytes(store)


if __name__ == "__main__":
    run(measure)
