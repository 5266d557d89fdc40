"""How long it is from the start of the process until it can hear."""

import sys
import tempfile
from datetime import datetime
from pathlib import Path
from time import perf_counter, time

from benchmarks.figure import Figure, Series, run, short
from benchmarks.models import SILERO
from benchmarks.processes import line_of, module, seconds_to_first_output, speaking
from benchmarks.sound import quiet_room, write_wav
from tests.service.process import HOUSEHOLD, Household

SHOWS = ("H9",)


def measure(*, quick: bool = False) -> Figure:
    """Start the whole appliance, and the bare program that loads the same two models, in turn."""
    with tempfile.TemporaryDirectory(prefix="nakari-bench-") as folder:
        room = write_wav(Path(folder) / "room.wav", quiet_room(30.0))
        ours: list[dict[str, float]] = []
        bare: list[float] = []
        python: list[float] = []
        for number in range(1 if quick else 7):
            ours.append(_appliance(Path(folder) / str(number), room))
            bare.append(_bare())
            python.append(seconds_to_first_output([sys.executable, "-c", "print()"]))
    ready = Series("nakari run, store and doors included, to `recognizer_ready`", "s", tuple(o["ready"] for o in ours))
    floor = Series("a bare program that loads the same Silero and Whisper", "s", tuple(bare))
    taking = Series("", "s", tuple(each["taking"] for each in ours))
    notes = (
        f"sound is taken in after {taking}; what is said until the recognizer is ready waits for it",
        f"Python alone starts in {short(min(python))} s",
        "with the tests' small Whisper; a larger one adds its loading time to both sides",
    )
    return Figure("Start to listening", ready, floor, notes)


def _appliance(folder: Path, room: Path) -> dict[str, float]:
    """Return the seconds from the start to two lines of the log."""
    home = Household(folder, {"memory": {"enabled": True}})
    began = time()
    with home.running("run", "--input", str(room), "--output", str(folder / "answer.wav")) as running:
        lines = {"ready": running.until("recognizer_ready"), "taking": running.until("service_started")}
    return {name: datetime.fromisoformat(str(line["timestamp"])).timestamp() - began for name, line in lines.items()}


def _bare() -> float:
    began = perf_counter()
    with speaking(module("benchmarks.floors.listener", str(SILERO), str(HOUSEHOLD))) as process:
        line_of(process)
        return perf_counter() - began


if __name__ == "__main__":
    run(measure)
