"""What a quiet room costs: the whole appliance listening, and a bare Silero loop over the same sound, side by side.

Beside them a box without microphone and loudspeaker, and an asyncio loop that only sleeps.
"""

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from audio.interfaces import VoiceDetector
from audio.pcm import CHUNK_SAMPLES, SAMPLE_RATE
from audio.turns.silero import load_silero
from audio.turns.vad import EnergyGate
from benchmarks.figure import Figure, Series, run, short
from benchmarks.models import SILERO
from benchmarks.processes import cpu_seconds, line_of, module, parts_of, speaking
from benchmarks.sound import quiet_room, write_wav
from tests.service.process import Household

SHOWS = ("H9", "V5")

MINUTE = 60.0

KNOWN_AFTER = 150
"""Chunks after which the energy gate knows the room."""

NO_DEVICE: dict[str, object] = {"device": "no such device"}
"""Makes any machine one without: a name that nothing has."""

SLEEPING = "import asyncio\nasync def main():\n    while True: await asyncio.sleep(1)\nasyncio.run(main())"

PAUSE = 0.002
"""Seconds between two chunks that are timed alone."""


def measure(*, quick: bool = False) -> Figure:
    """Run both at once, in real time, and look at their processor time in windows of some seconds."""
    windows, seconds, settling = (1, 0.5, 0.0) if quick else (6, 10.0, 15.0)
    with tempfile.TemporaryDirectory(prefix="nakari-bench-") as name:
        folder = Path(name)
        room = write_wav(folder / "room.wav", quiet_room(180.0))
        home = Household(folder, {"memory": {"enabled": True}})
        arguments = ("run", "--input", str(room), "--output", str(folder / "answer.wav"))
        bare = module("benchmarks.floors.silero", str(SILERO), str(room))
        (folder / "deaf").mkdir()
        deaf = Household(folder / "deaf", {"ears": NO_DEVICE, "voice": NO_DEVICE})
        with (
            home.running(*arguments) as running,
            deaf.running("run") as without,
            speaking([sys.executable, "-c", SLEEPING]) as sleeping,
            speaking(bare) as floor,
        ):
            line_of(floor)
            without.until("service_started")
            for ready in ("service_started", "recognizer_ready", "graph_store_started"):
                running.until(ready)
            others = [each.pid for each in (floor, without.process, sleeping)]
            time.sleep(settling)
            groups = [*parts_of(running.process.pid), *([pid] for pid in others)]
            spent = [_spent(groups, seconds) for _ in range(windows)]
    ours, store, loop, missing, asleep = zip(*spent, strict=True)
    unit = "s of one core a minute"
    listening = Series("nakari run, everything in it, in a quiet room", unit, ours)
    chunks = 100 if quick else 2000
    alone, gated = _a_chunk(load_silero(), chunks), _a_chunk(EnergyGate(load_silero()), chunks)
    notes = (
        f"that is {short(listening.median / MINUTE * 100)} % of a core; "
        f"the store's own process takes {Series('', unit, store)} more",
        f"a box without microphone and loudspeaker takes {short(fmean(missing))} {unit}, an asyncio loop that sleeps "
        f"{short(fmean(asleep))}; means of {windows * seconds:g} s",
        f"for 32 ms of sound Silero takes {alone:.2f} ms of processor time, behind the energy gate {gated:.3f} ms",
    )
    floor_series = Series("a bare Silero loop over the same sound", unit, loop)
    return Figure("Listening to a quiet room", listening, floor_series, notes)


def _spent(groups: Sequence[Sequence[int]], seconds: float) -> list[float]:
    """Return the processor time of each group of processes in the coming seconds, as seconds a minute."""
    began, before = time.monotonic(), [sum(map(cpu_seconds, each)) for each in groups]
    time.sleep(seconds)
    after, ended = [sum(map(cpu_seconds, each)) for each in groups], time.monotonic()
    return [(late - early) / (ended - began) * MINUTE for late, early in zip(after, before, strict=True)]


def _a_chunk(detector: VoiceDetector, count: int) -> float:
    """Return the milliseconds of processor time that a chunk of a quiet room takes once the room is known.

    With a pause before each: a detector that has just run finds its model in the cache, one that waits does not.
    """
    sound = quiet_room(CHUNK_SAMPLES * (count + KNOWN_AFTER) / SAMPLE_RATE)
    spent = 0.0
    for number in range(count + KNOWN_AFTER):
        chunk = sound[number * CHUNK_SAMPLES :][:CHUNK_SAMPLES]
        if number >= KNOWN_AFTER:
            time.sleep(PAUSE)
        began = time.thread_time()
        detector.probability(chunk)
        spent += (time.thread_time() - began) * (number >= KNOWN_AFTER)
    return spent / count * 1000


if __name__ == "__main__":
    run(measure)
