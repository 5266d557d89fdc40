"""What was heard last, read from the state folder: the words that reached it, and those held back with the reason."""

import json
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Final

from msgspec import Struct

from appliance.errors import Exit, Problem
from appliance.input.suppressed import EARS_SUPPRESSED
from memory.errors import StateUnreadable
from memory.json_value import Json
from memory.state.reader import read_only

ARRIVED: Final = "runs.new"
"""Topic of the entry with which it takes an event in hand; its words are what a person said."""

HEARD_BY: Final = ("mic", "satellite", "remote")
"""Sources of what ears heard: the box's own, those of a device or another machine, a page or program elsewhere."""

TELLING: Final = (
    "recognizer",
    "confidence",
    "score",
    "snr_db",
    "speech_seconds",
    "echo_suspicion",
    "no_speech_prob",
    "understood",
)
"""The evidence that a line for people shows."""


class HeardTurn(Struct, frozen=True):
    """One turn, and what became of it."""

    at: datetime
    """Aware, UTC."""
    words: str
    reason: str
    """Why nobody got it; "" when it did."""
    evidence: dict[str, Json]

    def line(self, zone: tzinfo) -> str:
        """Return it for people, in their time."""
        fate = f"held back: {self.reason}" if self.reason else "heard"
        told = ", ".join(f"{name} {self.evidence[name]}" for name in TELLING if name in self.evidence)
        words = f'"{self.words}"' if self.words else "(no words)"
        return f"{self.at.astimezone(zone):%Y-%m-%d %H:%M:%S}  {fate:<24}  {words}" + (f"  [{told}]" if told else "")

    def to_json(self) -> dict[str, Json]:
        """Return it for programs."""
        return {
            "at": self.at.isoformat(timespec="milliseconds"),
            "words": self.words,
            "reason": self.reason,
            "evidence": self.evidence,
        }


def newest(state_folder: Path, count: int) -> list[HeardTurn]:
    """Return the newest turns, oldest first. Raises `Problem` where there is no state yet or it cannot be read."""
    file = state_folder / "nakari.db"
    if not file.exists():
        raise Problem(f"nothing was heard yet: there is no {file}; `nakari run` makes it", Exit.UNAVAILABLE)
    try:
        with read_only(file) as connection:
            rows = connection.execute(_NEWEST, (ARRIVED, EARS_SUPPRESSED, count, json.dumps(HEARD_BY))).fetchall()
    except StateUnreadable as error:
        raise Problem(str(error), Exit.UNAVAILABLE) from error
    return [_turn(*row) for row in reversed(rows)]


_NEWEST: Final = """
SELECT at, body FROM journal AS heard
WHERE topic = ?2 OR topic = ?1 AND body ->> 'source' IN (SELECT value FROM json_each(?4)) AND NOT EXISTS (
    SELECT 1 FROM journal AS before WHERE before.event_id = heard.event_id AND before.topic = ?1
    AND before.seq < heard.seq)
ORDER BY seq DESC LIMIT ?3
"""


def _turn(at: str, text: str) -> HeardTurn:
    body = json.loads(text)
    words = body.get("words") or body.get("text_spoken") or ""
    return HeardTurn(datetime.fromisoformat(at), words, body.get("reason", ""), body.get("evidence", {}))
