"""How long it is from the start of the process until it can hear."""

import os
import sys
import tempfile
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from time import perf_counter, time

from benchmarks.figure import Figure, Series, run, short
from benchmarks.models import SILERO
from benchmarks.processes import line_of, module, seconds_to_first_output, speaking
from benchmarks.sound import quiet_room, write_wav
from tests.room.virtual_sound import virtual_sound
from tests.service.process import HOUSEHOLD, Household

SHOWS = ("H9",)


def measure(*, quick: bool = False) -> Figure:
    """Start the whole appliance, and the bare program that loads the same two models, in turn."""
    with tempfile.TemporaryDirectory(prefix="nakari-bench-") as folder, virtual_sound() as card:
        room = write_wav(Path(folder) / "room.wav", quiet_room(30.0))
        as_installed = _without_rich(Path(folder) / "installed")
        ours: list[float] = []
        recorded: list[float] = []
        bare: list[float] = []
        python: list[float] = []
        for number in range(1 if quick else 7):
            ours.append(_appliance(Path(folder) / str(number), room, as_installed))
            recorded.append(_microphone(Path(folder) / f"live-{number}", {**as_installed, **card.environment}))
            bare.append(_bare())
            python.append(seconds_to_first_output([sys.executable, "-c", "print()"]))
    ready = Series("nakari run, store and doors included, to `recognizer_ready`", "s", tuple(ours))
    floor = Series("a bare program that loads the same Silero and Whisper", "s", tuple(bare))
    taking = Series("", "s", tuple(recorded))
    notes = (
        f"a (virtual) microphone records after {taking}; what is said before the recognizer is ready waits for it",
        f"Python alone starts in {short(min(python))} s",
        "both decode a second of silence: ours in a window of that length, the other in the whole one, 0.1 s more",
        "with the tests' small Whisper; a larger one adds its loading time to both sides",
    )
    return Figure("Start to listening", ready, floor, notes)


def _without_rich(folder: Path) -> dict[str, str]:
    """Return the environment of a box, which has no `rich`: structlog loads it where the tests' libraries bring it."""
    folder.mkdir()
    (folder / "rich.py").write_text("raise ImportError\n")
    return {**os.environ, "PYTHONPATH": str(folder)}


def _appliance(folder: Path, room: Path, environment: Mapping[str, str]) -> float:
    home = Household(folder, {"memory": {"enabled": True}})
    answer = str(folder / "answer.wav")
    return _seconds_until("recognizer_ready", home, environment, "--input", str(room), "--output", answer)


def _microphone(folder: Path, environment: Mapping[str, str]) -> float:
    home = Household(folder, {"memory": {"enabled": True}})
    return _seconds_until("microphone_opened", home, environment)


def _seconds_until(event: str, home: Household, environment: Mapping[str, str], *options: str) -> float:
    """Return the seconds from the start to a line of the log."""
    began = time()
    with home.running("run", *options, environment=environment) as running:
        return datetime.fromisoformat(str(running.until(event)["timestamp"])).timestamp() - began


def _bare() -> float:
    began = perf_counter()
    with speaking(module("benchmarks.floors.listener", str(SILERO), str(HOUSEHOLD))) as process:
        line_of(process)
        return perf_counter() - began


if __name__ == "__main__":
    run(measure)
