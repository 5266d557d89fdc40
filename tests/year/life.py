"""What happens in the house: people ask, timers ring, the model goes away, the disk refuses, the clock is set."""

import asyncio
import gc
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from msgspec import Struct

from memory.clock import wall_clock
from memory.errors import StateUnusable
from tests.room.soak import resident_mb
from tests.room.virtual_time import passed, until
from tests.year.box import ZONE, Home, Running, running
from tests.year.mind import GET_UP, GOOD_MORNING, LABEL, name_of

DAY_SECONDS: Final = 86_400.0
EVENING_HOURS, NIGHT_HOURS = 7.5, 9.5
"""From the beginning of a day until people sleep, and how long they do."""

SPOKEN, TYPED = 10, 2
"""Things that people say and write on a day; every fifth of them asks for a timer, where it is said."""

OUTAGE_HOURS: Final = (0.5, 2.0, 9.0, 20.0)
"""How long the model stays away, in turn."""

CLOCK_STEP: Final = 90.0
"""Seconds by which a server sets the clock at most."""


class Plan(Struct, frozen=True):
    """How often what befalls the house, in days from one time to the next."""

    days: int = 365
    start: int = 14
    """From one stop of the box to the next, as for a new version."""
    outage: int = 6
    """Of the model."""
    disk: int = 23
    """Until it refuses all writes for an hour."""
    clock: int = 37
    """Until it is set."""

    def has(self, every: int, day: int) -> bool:
        """Whether something of that rate befalls it on a day, counted from 0."""
        return day % every == every - 1


Disk = Callable[[Path], AbstractContextManager[None]]
"""Refuses every write below a folder until the block ends."""


@dataclass
class Ledger:
    """What was asked and what came of it, over all starts."""

    asked: set[str] = field(default_factory=set)
    """What was said aloud, by its name; each has to be answered aloud once."""
    written: dict[str, str] = field(default_factory=dict)
    """The answer to each thing that was typed."""
    answered: Counter[str] = field(default_factory=Counter)
    due: dict[str, datetime] = field(default_factory=dict)
    """When each timer has to ring."""
    rang: dict[str, datetime] = field(default_factory=dict)
    """When it first rang."""
    due_told: Counter[str] = field(default_factory=Counter)
    """How often the mind told that it was due."""
    woken: Counter[str] = field(default_factory=Counter)
    """Local moments at which the alarm first rang, and how often that was a first time."""
    greeted: int = 0
    other: Counter[str] = field(default_factory=Counter)
    """Any other sentence."""
    days: list["Day"] = field(default_factory=list)
    befallen: Counter[str] = field(default_factory=Counter)
    """Outages of the model, of the disk, and changes of the clock."""
    rings: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when something has rung."""
    _woken_at: datetime | None = None

    def hear(self, sentence: str, at: datetime) -> None:
        """Take note of a sentence that she spoke."""
        if found := re.match(r"Item (\w+):", sentence):
            self.answered[found[1]] += 1
        elif found := re.match(r"Due was (\w+)", sentence):
            self.due_told[found[1]] += 1
        elif found := re.search(r"item (\w+)", sentence):
            self.rang.setdefault(found[1], at)
            self.rings.set()
        elif LABEL in sentence:
            if self._woken_at is None or at - self._woken_at > timedelta(hours=1):
                self.woken[f"{at.astimezone(ZoneInfo(ZONE)):%H:%M}"] += 1
            self._woken_at = at
            self.rings.set()
        elif sentence == GOOD_MORNING:
            self.greeted += 1
        else:
            self.other[sentence] += 1


class Day(Struct, frozen=True):
    """How the process and its files are at the end of a day."""

    resident: float
    """MB."""
    objects: int
    """That Python's collector knows."""
    tasks: int
    descriptors: int
    state_bytes: int
    log_bytes: int


class Life:
    """Lives as a plan says in a home; `disks` are the ways in which its disk refuses, in turn."""

    def __init__(self, home: Home, plan: Plan, disks: Sequence[Disk], seed: int = 1) -> None:
        self.home = home
        self.plan = plan
        self.ledger = Ledger()
        self._disks = disks
        self._random = random.Random(seed)
        self._items = count(1)
        self._day = 0
        self._day_ends = asyncio.get_running_loop().time()
        home.voice.heard = self._hear
        home.model.set_timer = self._timer_is_set

    async def live(self, seen: Callable[[Ledger], None] = lambda _: None) -> Ledger:
        """Let the days pass; `seen` is told after each."""
        with wall_clock(self.home.clock):
            while self._day < self.plan.days:
                async with running(self.home) as box:
                    for _ in range(min(self.plan.start, self.plan.days - self._day)):
                        await self._a_day(box)
                        seen(self.ledger)
                    if self._day == self.plan.days:
                        await self._end(box)
        return self.ledger

    async def _a_day(self, box: Running) -> None:
        self._day_ends += DAY_SECONDS
        if self._day == 0:
            await box.hears(GET_UP)
        async with asyncio.TaskGroup() as group:
            for at in sorted(self._sometime() for _ in range(SPOKEN)):
                group.create_task(self._speaks(box, at))
            for _ in range(TYPED):
                group.create_task(self._writes(box, self._sometime()))
            group.create_task(self._mishap(box))
            ringing = group.create_task(self._silences(box))
            await until(self._day_ends)
            ringing.cancel()
        self._account()
        self._day += 1

    async def _end(self, box: Running) -> None:
        """Have somebody speak once more: what was asked long ago is answered when there is somebody to hear it."""
        self.home.model.is_away = False
        await passed(1800)
        await self._speaks(box, 0.0)
        await passed(600)
        await box.at_rest()
        end = self.home.clock()
        self.ledger.due = {name: due for name, due in self.ledger.due.items() if due < end}

    def _sometime(self) -> float:
        """Return seconds from the beginning of the day, in the afternoon, to some moment at which people are awake."""
        awake = self._random.uniform(0.5, 14.4)
        return (awake if awake < EVENING_HOURS else awake + NIGHT_HOURS) * 3600

    async def _speaks(self, box: Running, at: float) -> None:
        await passed(at)
        number = next(self._items)
        self.ledger.asked.add(name_of(number))
        wish = f"set a timer of {self._random.randint(60, 3600)} seconds" if number % 5 == 0 else "how was the day?"
        await box.hears(f"Item {name_of(number)}: {wish}")

    async def _writes(self, box: Running, at: float) -> None:
        await passed(at)
        name = name_of(next(self._items))
        try:
            self.ledger.written[name] = await box.reads(f"Item {name}: what do you see?")
        except StateUnusable as error:
            self.ledger.written[name] = str(error)

    async def _silences(self, box: Running) -> None:
        """Have somebody stop each ring after a few seconds."""
        while True:
            self.ledger.rings.clear()
            await self.ledger.rings.wait()
            await passed(10.0)
            await box.silenced()

    async def _mishap(self, box: Running) -> None:
        await passed(self._random.uniform(3 * 3600, 12 * 3600))
        befallen, loop = self.ledger.befallen, asyncio.get_running_loop()
        if self.plan.has(self.plan.outage, self._day):
            loop.call_later(OUTAGE_HOURS[befallen["model"] % len(OUTAGE_HOURS)] * 3600, self._model_is_back)
            befallen["model"] += 1
            self.home.model.is_away = True
        if self.plan.has(self.plan.disk, self._day):
            disk = self._disks[befallen["disk"] % len(self._disks)]
            befallen["disk"] += 1
            with disk(self.home.state):
                await passed(3600)
        if self.plan.has(self.plan.clock, self._day):
            befallen["clock"] += 1
            self.home.clock.set_by += timedelta(seconds=self._random.uniform(-CLOCK_STEP, CLOCK_STEP))

    def _model_is_back(self) -> None:
        self.home.model.is_away = False

    def _hear(self, sentence: str) -> None:
        self.ledger.hear(sentence, self.home.clock())

    def _timer_is_set(self, name: str, seconds: int) -> None:
        self.ledger.due[name] = self.home.clock() + timedelta(seconds=seconds)

    def _account(self) -> None:
        gc.collect()
        self.ledger.days.append(
            Day(
                resident_mb(),
                len(gc.get_objects()),
                len(asyncio.all_tasks()),
                len(list(Path("/proc/self/fd").iterdir())),
                _size(self.home.state.rglob("*")),
                _size(self.home.folder.glob("nakari.log*")),
            )
        )


def _size(files: Iterable[Path]) -> int:
    return sum(file.stat().st_size for file in files if file.is_file())
