"""Hours of a household in minutes: the same noisy minute again and again, and what it leaves behind in the process."""

import asyncio
import ctypes
import gc
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.room.acoustics import Loudspeaker
from tests.room.house import House, Surroundings
from tests.room.sounds import cough, door, music, pink
from tests.room.stories import SETTLE_SECONDS
from tests.room.virtual_time import until
from tests.room.voices import says

LOOP_SECONDS: Final = 60.0

QUESTIONS: Final = (
    (3.0, "What time is it?", "en-us"),
    (17.0, "Turn on the kitchen light.", "en-us"),
    (31.0, "Is the front door locked?", "en-us"),
    (46.0, "Tell me a joke.", "en-us"),
)
"""Seconds into the loop, the words, the voice; at -30 dBFS."""

AROUND: Final = Surroundings(
    aside="All right, I will see to it.",
    loudspeaker=Loudspeaker(drift_ppm=-60.0, seed=9),
    noise_dbfs=-58.0,
    microphone_ppm=80.0,
)
"""Two sound cards whose clocks differ from the computer's, and from each other's."""


@dataclass(slots=True)
class Soak:
    """What was seen at the end of each loop."""

    loops: int = 0
    resident: list[float] = field(default_factory=list)
    """MB."""
    objects: list[int] = field(default_factory=list)
    """That Python's collector knows."""
    tasks: list[int] = field(default_factory=list)
    onset_errors: list[float] = field(default_factory=list)
    """Seconds from the moment at which a question began in the room to the moment that the ears tell for it."""
    asked: int = 0
    taken_up: int = 0
    """Turns that reached the mailbox."""
    dropped_chunks: int = 0

    @property
    def hours(self) -> float:
        return self.loops * LOOP_SECONDS / 3600

    def growth(self, values: list[float] | list[int]) -> float:
        """Return by what share the last quarter's median exceeds that of the second quarter: the first one warms up."""
        quarter = max(1, len(values) // 4)
        early = sorted(values[quarter : 2 * quarter])[quarter // 2]
        late = sorted(values[-quarter:])[quarter // 2]
        return late / early - 1

    @property
    def drift(self) -> float:
        """Seconds by which the onsets' median error changed from the first quarter to the last."""
        quarter = max(1, len(self.onset_errors) // 4)
        first, last = (sorted(part) for part in (self.onset_errors[:quarter], self.onset_errors[-quarter:]))
        return last[len(last) // 2] - first[len(first) // 2]


async def soak(house: House, loops: int, seen: Callable[[Soak], None] = lambda _: None) -> Soak:
    """Let so many minutes pass; `seen` is told after each."""
    found, ears = Soak(), house.box.input.ears
    assert ears is not None
    sounds = [(at, says(words, voice)) for at, words, voice in QUESTIONS]
    began = house.now + SETTLE_SECONDS
    for number in range(loops):
        start = began + number * LOOP_SECONDS
        for at, sound in sounds:
            house.put(sound, -30, after=start + at - house.now)
        for at, sound, dbfs in ((10.0, cough(), -34.0), (25.0, door(), -34.0), (38.0, music(6.0), -40.0)):
            house.put(sound, dbfs, after=start + at - house.now)
        house.put(pink(LOOP_SECONDS / 4), -52, after=start - house.now)
        await until(start + LOOP_SECONDS - 0.5)
        await house.silence()
        _account(found, house, [start + at for at, *_ in QUESTIONS])
        found.dropped_chunks = ears.listener.source.dropped_chunks
        seen(found)
    return found


def _account(found: Soak, house: House, onsets: list[float]) -> None:
    """Take note of a loop, and forget what the test itself has kept of it."""
    told = [heard.utterance.started_at for _, heard, _ in house.turns.ended if heard is not None]
    for onset in onsets:
        found.onset_errors += [at - onset for at in told if abs(at - onset) < 1.0][:1]
    found.loops += 1
    found.asked += len(onsets)
    found.taken_up += len(house.turns.taken_up)
    house.forget()
    gc.collect()
    found.resident.append(resident_mb())
    found.objects.append(len(gc.get_objects()))
    found.tasks.append(len(asyncio.all_tasks()))


def resident_mb() -> float:
    """Return the memory of its own that this process has now, in 10^6 bytes.

    The pages of mapped files are left out: a kernel that reclaims in advance (DAMON) takes and gives them as it likes.
    What the tests before this one have freed is given back first, or the allocator does so in the middle.
    """
    ctypes.CDLL(None).malloc_trim(0)
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines())
    return int(status["RssAnon"].split()[0]) * 1024 / 1e6
