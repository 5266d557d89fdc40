"""Makes a household's life of some weeks out of a seed: what is said, what changes, and what is asked of it."""

import calendar
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from random import Random
from typing import Final, Literal, TypeAlias, get_args

from msgspec import Struct
from msgspec.structs import replace

from appliance.bench import topics
from appliance.bench.topics import Topic, Wording

Kind: TypeAlias = Literal["now", "before", "since", "who", "forgotten", "absent"]
"""What a probe asks for: what is so now, what was so before, since when, who said it, what was to be forgotten, and
what nobody ever said."""

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

UNKNOWN: Final[frozenset[Kind]] = frozenset({"forgotten", "absent"})
"""Kinds whose right answer is that it is not known."""

FORGET: Final = "/forget"
"""What somebody types so that the last thing said is erased."""


class Said(Struct, frozen=True):
    """Something that a person says."""

    at: datetime
    """Aware UTC."""
    speaker: str
    words: str


class Probe(Said, frozen=True):
    """A question whose answer is known."""

    kind: Kind
    expected: tuple[str, ...] = ()
    """A right answer holds one of them, in any case of letters; empty where it is not known."""
    forbidden: tuple[str, ...] = ()
    """No right answer holds any of them."""


class Life(Struct, frozen=True):
    """What happens in a household, in order of time."""

    said: tuple[Said, ...]
    """Probes among them."""
    secrets: tuple[str, ...] = ()
    """Words that were said once and were to be forgotten: nothing may hold them afterwards."""

    @property
    def probes(self) -> tuple[Probe, ...]:
        """What is asked of it, in order."""
        return tuple(each for each in self.said if isinstance(each, Probe))

    @property
    def days(self) -> int:
        """How many days it goes over, the first and the last included."""
        return (self.said[-1].at.date() - self.said[0].at.date()).days + 1


MEMBERS: Final = 4
"""People who live there and speak."""
MOST_FRIENDS: Final = 10
"""People whom they speak of; in a short life one for each week, and one more."""
TRIFLES: Final = 3
"""The most that is said on a day of nothing."""

ASKED_EVERY: Final = 28
"""Days between two examinations; the last day has one too."""

CHANGES: Final = (0.35, 0.45, 0.2)
"""How likely a fact changes never, once, twice."""
CORRECTED: Final = 0.2
"""How likely the first word of a fact is corrected the next day."""
RETOLD: Final = 0.4
"""How likely somebody says a fact again that another one has said."""
FORGOTTEN_EVERY: Final = 25
"""Days between two things that are to be forgotten at once."""

TOLD: Final = 0.8
"""Share of what there is to say of people that is ever said."""
OF_ONESELF: Final = 0.5
"""How often a member says it of themselves first."""
MORNING, EVENING = 7.0, 21.0
"""Hours before and after everything else that is said on a day."""
SECONDS_APART: Final = 25.0
"""Between two sentences of a conversation."""
ASKED_APART: Final = timedelta(seconds=40)
NEVER: Final = datetime(1, 1, 1, tzinfo=UTC)
"""When a question is asked whose place is not known yet."""

Known: TypeAlias = Literal["now", "before", "since", "who"]
"""Kinds of questions that have an answer."""


class Secret(Struct, frozen=True):
    """Something that is said once, and is to be forgotten at once."""

    day: int
    thing: str
    code: str
    language: int
    is_slept_on: bool
    """Whether it is forgotten the next morning, when it has been looked back on."""

    @property
    def words(self) -> str:
        """The sentence that tells it."""
        return topics.SECRET[self.language].format(thing=self.thing, v=self.code)

    @property
    def question(self) -> str:
        """The sentence that asks for it."""
        return topics.SECRET_ASKED[self.language].format(thing=self.thing)


class Version(Struct, frozen=True):
    """What was so of something, as somebody said it first."""

    value: str
    day: int
    """Days since the beginning."""
    is_correction: bool = False


class Fact(Struct):
    """Something that is so of one person or thing, with all that ever was."""

    topic: Topic
    who: str
    language: int
    """0 English, 1 Chinese."""
    versions: list[Version] = []
    """The oldest first."""
    said: list[tuple[str, str, int]] = []
    """Who said which value on which day."""

    @property
    def wording(self) -> Wording:
        """Its sentences."""
        return self.topic.wordings[self.language]

    def form(self, version: Version, chance: Random) -> str:
        """Return the sentence by which a version is told."""
        if version is self.versions[0]:
            return chance.choice(self.wording.told)
        return self.wording.mended if version.is_correction else self.wording.change


class Examination(Struct, frozen=True):
    """How many questions of each kind are asked at a time."""

    now: int = 8
    before: int = 4
    since: int = 3
    who: int = 4
    forgotten: int = 2
    absent: int = 6


class Generator:
    """Makes one life; the same seed makes the same one."""

    def __init__(self, seed: int, weeks: int, begins: date, zone: tzinfo) -> None:
        """`begins` is its first day, by the clocks of `zone`."""
        self._random = Random(seed)
        self._days, self._begins, self._zone = weeks * 7, begins, zone
        friends, self._things = min(MOST_FRIENDS, 1 + weeks), 1 + weeks
        names = self._random.sample(topics.NAMES, MEMBERS + friends)
        self._people = [(name[place % 2], place % 2) for place, name in enumerate(names)]
        """With their languages, the members first."""
        self._lines: dict[int, list[tuple[str, str]]] = {}
        """By day: speaker and words."""
        self._secrets = self._hidden()
        self._facts = self._told()
        for day in range(self._days):
            for _ in range(self._random.randint(0, TRIFLES)):
                self._say(day, self._member(), self._random.choice(topics.TRIVIA))

    def life(self, asks: Examination, every: int = ASKED_EVERY) -> Life:
        """Return it, with an examination each so many days and on the day after the last one."""
        examined = {*range(every, self._days, every), self._days}
        said: list[Said] = []
        for day in range(self._days + 1):
            said += self._conversation(day)
            if day in examined:
                said += self._examination(day, asks)
            said += self._evening(day)
        return Life(tuple(said), tuple(secret.code for secret in self._secrets))

    def _member(self) -> str:
        return self._random.choice(self._people[:MEMBERS])[0]

    def _say(self, day: int, speaker: str, words: str) -> None:
        self._lines.setdefault(day, []).append((speaker, words))

    def _moment(self, day: int, hour: float) -> datetime:
        at = datetime.combine(self._begins + timedelta(days=day), time(), self._zone) + timedelta(hours=hour)
        return at.astimezone(UTC)

    def _conversation(self, day: int) -> list[Said]:
        """Return what is said on a day, some seconds apart; what is to be forgotten goes at once."""
        hour = self._random.uniform(9, 18)
        said = []
        lines = self._lines.get(day, [])
        for place, (speaker, words) in enumerate(self._random.sample(lines, len(lines))):
            said.append(Said(self._moment(day, hour + place * SECONDS_APART / 3600), speaker, words))
        return said

    def _evening(self, day: int) -> list[Said]:
        """Return what is said last on a day and is to be forgotten: at once, or the next morning."""
        said = []
        for secret in self._secrets:
            if secret.day == day:
                at, speaker = self._moment(day, EVENING), self._member()
                then = self._moment(day + 1, MORNING) if secret.is_slept_on else at + timedelta(seconds=9)
                said += [Said(at, speaker, secret.words), Said(then, speaker, FORGET)]
        return said

    def _hidden(self) -> list[Secret]:
        things = self._random.sample(topics.SECRET_THINGS, len(topics.SECRET_THINGS))
        days = range(self._random.randint(1, 5), self._days, FORGOTTEN_EVERY)
        found = []
        for place, (day, names) in enumerate(zip(days, things, strict=False)):
            code = f"{self._random.randint(1000, 9999)}-{self._random.randint(100, 999)}"
            found.append(Secret(day, names[place % 2], code, place % 2, is_slept_on=place % 2 == 0))
        return found

    def _told(self) -> list[Fact]:
        of_people = [
            Fact(topic, who, language)
            for who, language in self._people
            for topic in topics.TOPICS
            if not topic.things and self._random.random() < TOLD
        ]
        of_things = [
            Fact(topic, names[place % 2], place % 2)
            for topic in topics.TOPICS
            for place, names in enumerate(topic.things[: self._things])
        ]
        facts = of_people + of_things
        for fact in facts:
            self._happen(fact)
            self._tell(fact)
        return facts

    def _happen(self, fact: Fact) -> None:
        """Let it begin in the first two thirds of the time, perhaps be corrected, and perhaps change."""
        chance = self._random
        values = chance.sample(fact.topic.values, len(fact.topic.values))
        day = chance.randrange(max(1, self._days * 2 // 3))
        days = [(day, False)]
        if chance.random() < CORRECTED:
            day += 1
            days.append((day, True))
        (changes,) = chance.choices(range(len(CHANGES)), CHANGES)
        for _ in range(changes):
            day += chance.randint(3, max(4, self._days // 3))
            days.append((day, False))
        fact.versions.extend(
            Version(value[fact.language], day, is_correction)
            for value, (day, is_correction) in zip(values, days, strict=False)
            if day < self._days
        )

    def _tell(self, fact: Fact) -> None:
        """Have somebody say each version on its day, and perhaps another one while it holds."""
        members = [name for name, _ in self._people[:MEMBERS]]
        ends = [*(each.day for each in fact.versions[1:]), self._days]
        old = ""
        for version, end in zip(fact.versions, ends, strict=True):
            form, speaker = fact.form(version, self._random), self._member()
            if not old and fact.who in members and self._random.random() < OF_ONESELF:
                form, speaker = fact.wording.own, fact.who
            said = [(version.day, speaker, form)]
            again = version.day + self._random.randint(1, 9)
            if again < end and self._random.random() < RETOLD:
                said.append((again, self._member(), self._random.choice(fact.wording.told)))
            for day, who, words in said:
                self._say(day, who, words.format(who=fact.who, v=version.value, old=old))
                fact.said.append((who, version.value, day))
            old = version.value

    # --- what is asked ---

    def _examination(self, day: int, asks: Examination) -> list[Probe]:
        made = [
            *(probe for kind in get_args(Known) for probe in self._of_facts(day, kind, getattr(asks, kind))),
            *self._forgotten(day, asks.forgotten),
            *self._never(asks.absent),
        ]
        chosen = self._random.sample(made, len(made))
        start = self._moment(day, 19)
        return [replace(each, at=start + place * ASKED_APART) for place, each in enumerate(chosen)]

    def _of_facts(self, day: int, kind: Known, count: int) -> list[Probe]:
        able = [(fact, found) for fact in self._facts if (found := self._answer(fact, day, kind)) is not None]
        chosen = self._random.sample(able, min(count, len(able)))
        return [Probe(NEVER, self._member(), words, kind, expected) for _, (words, expected) in chosen]

    def _answer(self, fact: Fact, day: int, kind: Known) -> tuple[str, tuple[str, ...]] | None:
        """Return a question at the end of a day about a fact, with its right answers; None where there is none."""
        versions = [each for each in fact.versions if each.day <= day]
        if not versions:
            return None
        last, before = versions[-1], versions[-2:-1]
        form = getattr(fact.wording, kind).format(who=fact.who, v=last.value)
        match kind:
            case "now":
                return form, (last.value,)
            case "who":
                return form, tuple({who for who, value, said in fact.said if value == last.value and said <= day})
        if not before or last.is_correction:
            return None
        since = self._begins + timedelta(days=last.day)
        return form, (before[0].value,) if kind == "before" else written(since)

    def _forgotten(self, day: int, count: int) -> list[Probe]:
        gone = [each for each in self._secrets if each.day < day]
        chosen = self._random.sample(gone, min(count, len(gone)))
        return [Probe(NEVER, self._member(), each.question, "forgotten", (), (each.code,)) for each in chosen]

    def _never(self, count: int) -> list[Probe]:
        """Return questions about what nobody ever said: half of them of people whom nobody knows."""
        probes = []
        for place in range(count):
            if place % 2:
                topic, language = self._random.choice((topics.CITY, topics.JOB, topics.DRINK)), place // 2 % 2
                words = topic.wordings[language].now.format(who=self._random.choice(topics.STRANGERS)[language])
            else:
                who, language = self._random.choice(self._people)
                words = self._random.choice(topics.NEVER)[language].format(who=who)
            probes.append(Probe(NEVER, self._member(), words, "absent"))
        return probes


def written(day: date) -> tuple[str, ...]:
    """Return a date in the ways in which people write it."""
    month = calendar.month_name[day.month]
    forms = (f"{month} {day.day}", f"{day.day} {month}", f"{day.day} of {month}", f"the {day.day}th of {month}")
    return (day.isoformat(), *forms, f"{month} {day.day}th", f"{day.month}月{day.day}")
