"""Households of dated turns with questions about them, and their form on the disk.

One JSON file a household: `{"name", "turns": [{"id", "at", "session", "speaker", "words"}], "questions": [{"id",
"words", "asked_at", "evidence": [turn ids], "category", "use"?, "since"?, "until"?, "speaker"?}]}`. Times are ISO 8601
with an offset. As JSON Lines each turn and question stands on a line of its own, the name in the first.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict

AGENT: Final = "you"
"""The speaker of what the agent said."""

UNANSWERABLE: Final = "unanswerable"
"""The category of questions about what nobody said: they have no evidence."""

MISLEADING: Final = "misleading"
"""The category of questions whose evidence leads astray: one is asked for what another one said."""

REPORT: Final = "report"
CHOOSE: Final = "choose"
"""What a question may be used for: to report figures, or to choose settings by. A set of others' is for reports."""


class Turn(Struct, frozen=True):
    """What somebody said at once."""

    id: str
    at: datetime
    session: str
    speaker: str
    """A name, `AGENT`, or "" where nobody knows."""
    words: str


class Question(Struct, frozen=True):
    """What is asked about the turns, with the turns that hold the answer."""

    id: str
    words: str
    asked_at: datetime
    evidence: tuple[str, ...]
    category: str
    use: str = REPORT
    since: datetime | None = None
    until: datetime | None = None
    speaker: str = ""
    """Filters that a model would set for it; the turn that is asked for passes them."""


class Household(Struct, frozen=True):
    """All that was said in a home, in order, and what is asked about it."""

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]

    def __post_init__(self) -> None:
        known = {turn.id for turn in self.turns}
        if len(known) != len(self.turns):
            raise ValueError(f"{self.name}: two turns have the same id")
        for question in self.questions:
            if missing := set(question.evidence) - known:
                raise ValueError(f"{self.name}: {question.id} names no turn by {', '.join(sorted(missing))}")


def read_household(file: Path) -> Household:
    """Return the household of a file, `.json` or `.jsonl`. Raises ValueError for one that is neither."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".jsonl":
        lines = [json.loads(line) for line in text.splitlines() if line.strip()]
        turns = [line for line in lines if "session" in line]
        body: dict[str, Any] = {
            "name": file.stem,
            "turns": turns,
            "questions": [line for line in lines if "evidence" in line],
        }
        body |= next((line for line in lines if line.keys() == {"name"}), {})
    else:
        body = json.loads(text)
    try:
        return Household(body["name"], tuple(map(_turn, body["turns"])), tuple(map(_question, body["questions"])))
    except (KeyError, TypeError) as error:
        raise ValueError(f"{file} is no household of turns and questions ({error!r})") from error


def write_household(household: Household, file: Path) -> None:
    """Write a household as JSON, a turn and a question a line, so that changes can be read."""
    turns = ",\n".join(_line(_body(turn)) for turn in household.turns)
    questions = ",\n".join(_line(_body(question)) for question in household.questions)
    name = json.dumps(household.name, ensure_ascii=False)
    text = f'{{"name": {name}, "turns": [\n{turns}\n], "questions": [\n{questions}\n]}}\n'
    file.write_text(text, encoding="utf-8")


def sampled(household: Household, use: str) -> Household:
    """Return the household with the questions of one use alone, "" for all; the turns stay whole."""
    kept = tuple(question for question in household.questions if use in ("", question.use))
    return Household(household.name, household.turns, kept)


def _body(part: Turn | Question) -> dict[str, object]:
    """Return a part's fields as JSON values, empty ones left out."""
    values: Mapping[str, object] = asdict(part)
    return {name: _plain(value) for name, value in values.items() if value not in (None, "") or name == "speaker"}


def _plain(value: object) -> object:
    return value.isoformat() if isinstance(value, datetime) else list(value) if isinstance(value, tuple) else value


def _line(body: Mapping[str, object]) -> str:
    return json.dumps(body, ensure_ascii=False)


def _turn(body: Mapping[str, Any]) -> Turn:
    return Turn(body["id"], _time(body["at"]), body["session"], body.get("speaker", ""), body["words"])


def _question(body: Mapping[str, Any]) -> Question:
    evidence: Sequence[str] = body["evidence"]
    since, until = (_time(body[name]) if body.get(name) else None for name in ("since", "until"))
    about = (body["id"], body["words"], _time(body["asked_at"]), tuple(evidence), body["category"])
    return Question(*about, body.get("use", REPORT), since, until, body.get("speaker", ""))


def _time(text: str) -> datetime:
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError(f"the time {text} has no offset")
    return at
