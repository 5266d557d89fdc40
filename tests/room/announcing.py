"""A household that talks, hears music or is silent, and an agent with something to say; for test and benchmark."""

import asyncio
import random
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from msgspec import Struct

from agent.event import HOME_WATCH, SELF_CREATED, SYSTEM, Event
from agent.mailbox.economy import SELF
from agent.unasked.announcement import ENTITY, EXPIRES
from audio.playback.speech_output import SpeechObserver, SpokenSentence
from tests.room.house import PROMPT, House, Surroundings
from tests.room.sounds import music, song
from tests.room.virtual_time import passed
from tests.room.voices import says

AROUND: Final = Surroundings(
    {
        "announcements": {"per_day": 1000},
        "ears": {"calibrate_at_start": False},
        "economy": {"calls_per_day": 100_000, "per_minute": 1000},
    },
    answers=(
        "The washing machine is done.",
        "It rains in an hour, and two windows are open.",
        "The roses have had no water since Monday.",
        "Somebody rang at the door.",
        "You might like the concert on Friday.",
        "The terrace light is still on.",
        "It is warmer outside than inside now.",
    ),
    aside="All right.",
)

TALK: Final = (
    "What time is it?",
    "I think we should leave at eight.",
    "Did you see the letter from the bank?",
    "Let us have soup tonight.",
    "Can you remember where the keys are?",
)

PEOPLE_DBFS: Final = -30.0
MUSIC_DBFS: Final = -40.0
BACKGROUNDS: Final = ("talk", "music", "silence")

OVERLAP_SECONDS: Final = 0.05
"""Of sound before somebody begins that is no speaking over them: they began as it did."""


AT_ONCE_SECONDS: Final = 0.5
"""From a wish to the first sample of a voice that waits for nothing."""

KINDS: Final = ((SELF_CREATED, SELF, 0), (HOME_WATCH, "home", 9), (SYSTEM, "system", 0))
"""Type, source and priority of what the agent has something to say about."""


@dataclass
class Announced(SpeechObserver):
    """When the first sample of each announcement was heard, seconds on the loop's clock, by the id of its event."""

    began: dict[str, float] = field(default_factory=dict)

    def first_sound(self, sentence: SpokenSentence, at: float, made_at: float | None = None) -> None:
        if "." in sentence.key:  # the id of an announcement; others are calls
            self.began.setdefault(sentence.key.partition(".")[0], at)


class Manners(Struct, frozen=True):
    """What came of it."""

    wanted: int
    said: int
    over_somebody: tuple[float, ...]
    """Of those whose breath began in the middle of somebody's sentence, how many seconds of that had been said."""
    overtaken: int
    """Began behind others in a breath into which somebody had begun to speak, before that was noticed."""
    at_once_over_somebody: int
    """Would have begun so, had they been said when the agent wished, half a second later."""
    waits: tuple[float, ...]
    """Seconds from the agent's wish to the first sample, in order."""
    breaths: int
    """Times that it began to speak unasked."""
    outcomes: dict[str, int]
    left: int
    """Still waiting at the end."""
    seconds: float
    """Of the story."""

    @property
    def median_wait(self) -> float:
        """Of those that were said; seconds."""
        return self.waits[len(self.waits) // 2] if self.waits else 0.0


class Household:
    """Makes the scenes, the same for the same seed."""

    def __init__(self, house: House, seed: int) -> None:
        self.house = house
        self.chance = random.Random(seed)
        self.sentences: list[tuple[float, float]] = []
        """When somebody spoke: begin and end."""
        self.wished: dict[str, float] = {}
        self.heard = Announced()
        house.box.output.speech.observe(self.heard)

    def said_by(self, at: float) -> float | None:
        """Return how many seconds of somebody's sentence had been said at a moment, None where nobody was in one."""
        return next((at - begin for begin, end in self.sentences if begin + OVERLAP_SECONDS < at < end), None)

    def breath_of(self, at: float) -> float:
        """Return when the stretch of sound began in which something was heard."""
        return next((begin for begin, end in self.house.card.played if begin < at <= end), at)

    async def wish(self, number: int) -> None:
        """Give the agent something that it will want to say."""
        chance = self.chance
        kind, source, priority = chance.choice(KINDS)
        metadata: dict[str, str] = {}
        if chance.random() < 0.2:
            until = self.house.box.output.announcements.now() + timedelta(seconds=15)
            metadata[EXPIRES] = until.isoformat()
        if kind == HOME_WATCH:
            metadata[ENTITY] = f"sensor.{chance.randrange(5)}"
        event = Event(kind, f"{PROMPT} {number}", source=source, priority=priority, metadata=dict(metadata))
        self.wished[event.id] = self.house.now
        await self.house.box.household.mailbox.enqueue(event)

    async def talk(self, seconds: float) -> None:
        """Have people talk for so long, with short gaps."""
        until = self.house.now + seconds
        while self.house.now < until:
            begins = self.house.now + 0.2
            ends = self.house.put(says(self.chance.choice(TALK)), PEOPLE_DBFS, after=0.2)
            self.sentences.append((begins, ends))
            await passed(ends - self.house.now + self.chance.uniform(0.3, 1.6))

    async def scene(self, background: str, wishes: range) -> None:
        """Have a scene of about half a minute, in which the agent has a few things to say; then it is calm."""
        seconds = self.chance.uniform(15.0, 25.0)
        if background == "music":
            made = song if self.chance.random() < 0.5 else music
            self.house.put(made(seconds), MUSIC_DBFS)
        async with asyncio.TaskGroup() as group:
            if background == "talk":
                group.create_task(self.talk(seconds))
            for number in wishes:
                await passed(self.chance.uniform(0.0, seconds / len(wishes)))
                await self.wish(number)
        await passed(self.chance.uniform(5.0, 15.0))


async def manners(house: House, count: int, seed: int = 1) -> Manners:
    """Live through scenes in which the agent wants to say so many things; return how it behaved."""
    began = house.now
    people = Household(house, seed)
    await passed(2.0)
    await people.talk(1.0)
    numbers, scenes = 0, 0
    while numbers < count:
        size = min(people.chance.choice((1, 2, 3)), count - numbers)
        await people.scene(BACKGROUNDS[scenes % len(BACKGROUNDS)], range(numbers, numbers + size))
        numbers, scenes = numbers + size, scenes + 1
        if scenes % 5 == 0:
            await people.talk(1.0)  # somebody is still there
    await passed(60.0)
    return await _told(people, began)


async def _told(people: Household, began: float) -> Manners:
    announcements, heard = people.house.box.output.announcements, people.heard.began
    starts = sorted(heard.values())
    breaths = sum(1 for before, at in zip([float("-inf"), *starts], starts, strict=False) if at - before > 15.0)
    return Manners(
        wanted=len(people.wished),
        said=len(heard),
        over_somebody=tuple(
            into for at in heard.values() if (into := people.said_by(people.breath_of(at))) is not None
        ),
        overtaken=sum(people.said_by(at) is not None for at in heard.values() if people.breath_of(at) < at),
        at_once_over_somebody=sum(people.said_by(at + AT_ONCE_SECONDS) is not None for at in people.wished.values()),
        waits=tuple(sorted(at - people.wished[name] for name, at in heard.items() if name in people.wished)),
        breaths=breaths,
        outcomes=dict(Counter(fate.outcome for fate in announcements.past)),
        left=len(await announcements.waiting()),
        seconds=people.house.now - began,
    )
