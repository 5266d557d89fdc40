"""From the end of speech to the first sound of the answer at a satellite, against the box's own microphone."""

import asyncio
import tempfile
import time
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from appliance.config.load import load
from appliance.config.options import RunOptions
from appliance.service import serve
from appliance.wiring.box import open_box
from appliance.wiring.environment import REAL
from audio.capture.recording import read_recording
from benchmarks.appliance.speech_to_sound import QUESTION, converse
from benchmarks.figure import Figure, Series, milliseconds, run
from benchmarks.model_server import model_server
from tests.audio.spoken import trimmed
from tests.room.virtual_time import passed
from tests.satellites.devices import RoomDevice, RoomDevices
from tests.service.process import Household, speak

SHOWS: Final = ("V28",)

PAUSE_SECONDS: Final = 1.0
"""After an answer."""


def measure(*, quick: bool = False) -> Figure:
    """Ask one question again and again in real time, at a satellite and at the box, with the same engines."""
    count = 1 if quick else 10
    with tempfile.TemporaryDirectory(prefix="nakari-bench-") as folder, model_server() as url:
        there = Household(Path(folder) / "there", {"model": {"provider": "openai", "base_url": url, "name": "m"}})
        here = Household(Path(folder) / "here", {"model": {"provider": "openai", "base_url": url, "name": "m"}})
        satellite = asyncio.run(_ask(there, count))
        own = [turn["all"] for turn in asyncio.run(converse(here, count))]
    what = "from the end of speech in another room to the first byte of the answer's sound there"
    ours: Series = milliseconds(what, satellite)
    floor = milliseconds("the box's own microphone and loudspeaker, to the first sample", own)
    notes = (
        "the device's own delay comes on top: linux-voice-assistant sounds about a second after the first byte of a "
        "long answer, a short one at once",
        "the silence that ends a turn is in both; the device sends 64 ms at a time",
    )
    return Figure("End of speech to first sound at a satellite", ours, floor, notes)


async def _ask(home: Household, count: int) -> list[float]:
    """Return the seconds of each answer."""
    home.folder.mkdir(exist_ok=True)
    question = trimmed(read_recording(await asyncio.to_thread(speak, QUESTION, home.folder / "question.wav")))
    ended: list[float] = []
    kitchen = RoomDevice("kitchen", delay=0.0)
    outside = replace(REAL, source=lambda ears, options: None, satellites=lambda config: RoomDevices(kitchen))
    options = RunOptions(output=home.folder / "own.wav")
    async with open_box(load(home.write(), {"HOME": str(home.folder)}), options, outside) as box:

        async def talk() -> None:
            for number in range(count):
                await passed(PAUSE_SECONDS)
                kitchen.wake()
                await kitchen.hears(question)
                ended.append(time.monotonic())
                await kitchen.quiet(10.0)
                while len(kitchen.played) <= number or kitchen.played[-1].ended is None:
                    await passed(0.05)
                await box.household.mailbox.until_idle()

        await serve(box, talk)
    return [sound.begun - at for sound, at in zip(kitchen.played, ended, strict=True)]


if __name__ == "__main__":
    run(measure)
