"""Processor time of a box with four satellites, of which one is spoken to, against a bare loop of the detector."""

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from appliance.config.load import load
from appliance.config.options import RunOptions
from appliance.satellites.esphome import EspHome
from appliance.satellites.paired import Paired, PairedList
from appliance.satellites.satellites import Limits, Satellites
from appliance.satellites.sightings import Sightings
from appliance.service import serve
from appliance.wiring.box import open_box
from appliance.wiring.environment import REAL
from audio.pcm import CHUNK_SAMPLES, CHUNK_SECONDS, SAMPLE_RATE
from audio.turns.vad import load_detector
from benchmarks.figure import Figure, Series, run
from tests.room.virtual_time import passed
from tests.room.voices import spoken
from tests.satellites.device import SmallDevice, new_key
from tests.service.process import Household

SHOWS: Final = ("V28",)

SATELLITES: Final = 4

BARE: Final = "a bare Silero loop over the same speech"

UNIT: Final = "s of one core a minute"

SETTLED_SECONDS: Final = 6.0
"""After which what is loaded at the start is."""

FRAME_SECONDS: Final = 0.064

LEAST_SECONDS: Final = 3.0
"""Of a bare loop: half a second of it did not always give a figure above 0."""

TALK: Final = "Remember that my keys are in the drawer."


def measure(*, quick: bool = False) -> Figure:
    """Let a box rest without satellites, with four, and with four of which one sends speech all the time."""
    floor = []
    seconds, runs, settling = (0.5, 1, 0.0) if quick else (20.0, 2, SETTLED_SECONDS)
    none, idle, talking = [], [], []
    for _ in range(runs):
        floor.append(_bare(max(seconds, LEAST_SECONDS)))
        none.append(asyncio.run(_rest(0, seconds, settling, is_spoken_to=False)))
        idle.append(asyncio.run(_rest(SATELLITES, seconds, settling, is_spoken_to=False)))
        talking.append(asyncio.run(_rest(SATELLITES, seconds, settling, is_spoken_to=True)))
    notes = (
        f"four at rest {Series('', UNIT, tuple(idle))}; the same box without any {Series('', UNIT, tuple(none))}",
        "the devices' own side of the encrypted connections is in it, and every half minute the words of a turn",
    )
    ours = Series("four satellites, one of which sends speech all the time", UNIT, tuple(talking))
    return Figure("Four satellites, one of them spoken to", ours, Series(BARE, UNIT, tuple(floor)), notes)


def _bare(seconds: float) -> float:
    """Return the seconds of processor time for a minute of the detector alone."""
    detector, sound = load_detector(), spoken(TALK, "en-us")
    chunks = sound[: len(sound) // CHUNK_SAMPLES * CHUNK_SAMPLES].reshape(-1, CHUNK_SAMPLES)
    before = time.process_time()
    for number in range(round(seconds / CHUNK_SECONDS)):
        detector.probability(chunks[number % len(chunks)])
    return (time.process_time() - before) / seconds * 60


@asynccontextmanager
async def _unseen(sightings: Sightings) -> AsyncIterator[None]:
    yield


async def _rest(count: int, seconds: float, settling: float, *, is_spoken_to: bool) -> float:
    """Return the seconds of processor time for a minute of such a box, so many seconds after its start."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="nakari-bench-")))
        config = load(Household(folder).write(), {"HOME": str(folder)})
        devices = [
            await stack.enter_async_context(SmallDevice(f"room{number}", f"AA:BB:CC:00:00:0{number}", new_key()))
            for number in range(count)
        ]
        paired = [Paired(each.mac.lower(), each.name, each.name, "127.0.0.1", each.port, each.key) for each in devices]
        PairedList(config.state_folder).write(tuple(paired))
        links = Satellites(PairedList(config.state_folder), EspHome("UTC"), _unseen, Limits(SATELLITES))
        outside = replace(REAL, source=lambda ears, options: None, satellites=lambda config: links)
        took: list[float] = []
        box = await stack.enter_async_context(open_box(config, RunOptions(output=folder / "own.wav"), outside))

        async def spend() -> None:
            for device in devices:
                await device.subscribed()
            await passed(settling)
            if is_spoken_to:
                await _talk(devices[0], settling / 2)  # what is loaded with the first word is not counted
            before = time.process_time()
            await (_talk(devices[0], seconds) if is_spoken_to else passed(seconds))
            took.append((time.process_time() - before) / seconds * 60)

        await serve(box, spend)
        return took[0]


async def _talk(device: SmallDevice, seconds: float) -> None:
    """Send speech without a pause in real time; where the turn was cut, wake it again."""
    sound, size = spoken(TALK, "en-us"), round(FRAME_SECONDS * SAMPLE_RATE)
    whole = sound[: len(sound) // size * size].reshape(-1, size)
    for number in range(round(seconds / FRAME_SECONDS)):
        if not device.is_streaming:
            device.wake()
        device.hear(whole[number % len(whole)].astype("<i2").tobytes())
        await passed(FRAME_SECONDS)


if __name__ == "__main__":
    run(measure)
