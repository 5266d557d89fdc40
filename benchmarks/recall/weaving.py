"""The project's own households: story lines written by hand, woven by a seed into a stock of everyday talk.

A file of `data/` is a household: `household NAME LANGUAGE OFFSET FIRST LAST TURNS` and `people …`, then its story
lines. `= NAME USE` begins one, `@ DATE TIME` a scene, `SPEAKER: words {label}` is a turn, and `? CATEGORY labels
[since= until= speaker=] | words` a question whose evidence has those labels. The stock is lists of words for the
`<slots>` and short exchanges between blank lines, `who` being anybody of the household.
"""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta, tzinfo
from pathlib import Path
from typing import Final

from msgspec import Struct

from benchmarks.recall.corpus import AGENT, Household, Question, Turn

DATA: Final = Path(__file__).parent / "data"

NAMES: Final = ("harbour", "nanhu", "cedar")
"""English, Chinese, and both."""

SESSION: Final = "room"
"""Everything is said aloud at home."""

MOST_EXCHANGES: Final = 4
"""In one conversation of the stock."""

HABITS: Final[Mapping[str, Mapping[str, float]]] = {"cedar": {"奶奶": 0, "Leo": 1, "Mei": 0.7, "Daniel": 0.95}}
"""How often the people of a household of two languages speak English."""

_LABEL: Final = re.compile(r" \{(\w)\}$")
_SLOT: Final = re.compile(r"<(\w+)>")


class Line(Struct, frozen=True):
    """A turn before it has a time."""

    speaker: str
    words: str
    label: str = ""
    """Story line and letter, for the questions."""


class Scene(Struct, frozen=True):
    """Turns in a row, from a moment on."""

    at: datetime
    lines: Sequence[Line]


class Asked(Struct, frozen=True):
    """A question before the turns have ids."""

    story: str
    use: str
    category: str
    labels: Sequence[str]
    filters: Mapping[str, str]
    words: str


@dataclass(slots=True)
class Source:
    """A file of `data/`, read."""

    name: str
    language: str
    zone: tzinfo
    first: date
    last: date
    turns: int
    """To be woven, about."""
    people: list[str] = field(default_factory=list)
    scenes: list[Scene] = field(default_factory=list)
    questions: list[Asked] = field(default_factory=list)


def own_households(names: Sequence[str] = NAMES) -> list[Household]:
    """Return the project's households, the same at every call."""
    return [weave(read_source(DATA / f"{name}.txt")) for name in names]


def weave(source: Source) -> Household:
    """Return a household: its scenes at their moments, and between them everyday talk until it has its turns."""
    chance = random.Random(source.name)
    stocks = {language: Stock.read(DATA / f"stock_{language}.txt", chance) for language in ("en", "zh")}
    scenes = list(source.scenes)
    missing = source.turns - sum(len(scene.lines) for scene in scenes)
    while missing > 0:
        lines = [line for _ in range(chance.randint(1, MOST_EXCHANGES)) for line in _exchange(source, stocks, chance)]
        scenes.append(Scene(_moment(source, chance), lines))
        missing -= len(lines)
    turns, ids = _turns(sorted(scenes, key=lambda scene: scene.at), chance)
    questions = [_question(number, asked, ids, source) for number, asked in enumerate(source.questions)]
    return Household(source.name, tuple(turns), tuple(questions))


def _turns(scenes: Sequence[Scene], chance: random.Random) -> tuple[list[Turn], dict[str, str]]:
    """Return the turns in order, and the ids of those with a label."""
    turns: list[Turn] = []
    ids: dict[str, str] = {}
    for scene in scenes:
        at = max(scene.at, turns[-1].at + timedelta(minutes=1)) if turns else scene.at
        for line in scene.lines:
            turns.append(Turn(f"{len(turns):04d}", at, SESSION, line.speaker, line.words))
            if line.label:
                ids[line.label] = turns[-1].id
            at += timedelta(seconds=chance.randint(3, 12))
    return turns, ids


def _exchange(source: Source, stocks: Mapping[str, "Stock"], chance: random.Random) -> list[Line]:
    who, language = chance.choice(source.people), source.language
    if language not in stocks:
        language = "en" if chance.random() < HABITS[source.name][who] else "zh"
    return stocks[language].exchange(who)


def _moment(source: Source, chance: random.Random) -> datetime:
    day = source.first + timedelta(days=chance.randint(0, (source.last - source.first).days))
    minutes = chance.randint(6 * 60 + 45, 21 * 60 + 45)
    return datetime.combine(day, time(minutes // 60, minutes % 60, chance.randint(0, 59)), source.zone)


def _question(number: int, asked: Asked, ids: Mapping[str, str], source: Source) -> Question:
    since, until = (
        datetime.combine(date.fromisoformat(asked.filters[name]), time(), source.zone)
        if name in asked.filters
        else None
        for name in ("since", "until")
    )
    noon = datetime.combine(source.last + timedelta(days=1), time(12), source.zone)
    evidence = tuple(ids[f"{asked.story}.{label}"] for label in asked.labels)
    about = (f"q{number:03d}", asked.words, noon, evidence, asked.category, asked.use)
    return Question(*about, since, until, asked.filters.get("speaker", ""))


def read_source(file: Path) -> Source:
    """Return what a file of `data/` says. Raises ValueError where a line is of no kind."""
    lines = iter(file.read_text(encoding="utf-8").splitlines())
    _, name, language, offset, first, last, turns = next(lines).split()
    zone = datetime.fromisoformat(f"{first}T00:00:00{offset}").tzinfo
    assert zone is not None
    source = Source(name, language, zone, date.fromisoformat(first), date.fromisoformat(last), int(turns))
    source.people = next(lines).split()[1:]
    _read_stories(lines, source)
    return source


def _read_stories(lines: Iterator[str], source: Source) -> None:
    story = use = ""
    scene: list[Line] = []
    for line in filter(None, lines):
        mark, _, rest = line.partition(" ")
        if mark == "=":
            story, use = rest.split()
        elif mark == "@":
            scene = []
            source.scenes.append(Scene(datetime.fromisoformat(rest).replace(tzinfo=source.zone), scene))
        elif mark == "?":
            source.questions.append(_asked(story, use, rest))
        else:
            scene.append(_line(line, story, (*source.people, AGENT)))


def _asked(story: str, use: str, text: str) -> Asked:
    head, _, words = text.partition(" | ")
    category, *about = head.split()
    filters = dict(each.split("=") for each in about if "=" in each)
    return Asked(story, use, category, [each for each in about if "=" not in each], filters, words)


def _line(text: str, story: str, people: Sequence[str]) -> Line:
    speaker, _, words = text.partition(": ")
    if speaker not in people:
        raise ValueError(f"{story}: nobody is called {speaker!r}")
    label = _LABEL.search(words)
    return Line(speaker, _LABEL.sub("", words), f"{story}.{label[1]}" if label else "")


class Stock:
    """Everyday exchanges, each drawn as often as the others."""

    def __init__(self, slots: Mapping[str, Sequence[str]], exchanges: Sequence[str], chance: random.Random) -> None:
        self._slots = slots
        self._exchanges = exchanges
        self._chance = chance
        self._left: list[str] = []

    @classmethod
    def read(cls, file: Path, chance: random.Random) -> "Stock":
        """Return the stock of a file."""
        head, *exchanges = file.read_text(encoding="utf-8").strip().split("\n\n")
        pairs = (line.split(": ", 1) for line in head.splitlines())
        return cls({name: values.split(" | ") for name, values in pairs}, exchanges, chance)

    def exchange(self, who: str) -> list[Line]:
        """Return an exchange with somebody, its slots filled."""
        if not self._left:
            self._left = self._chance.sample(self._exchanges, len(self._exchanges))
        text = self._left.pop()
        chosen = {name: self._chance.choice(self._slots[name]) for name in sorted(set(_SLOT.findall(text)))}
        filled = _SLOT.sub(lambda slot: chosen[slot[1]], text)
        pairs = (line.split(": ", 1) for line in filled.splitlines())
        return [Line(who if speaker == "who" else speaker, _capital(words)) for speaker, words in pairs]


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
