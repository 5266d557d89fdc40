"""Turns and their steps as rows for people."""

from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Final

from agent.turns.waterfall import STEPS
from memory.json_value import Json, fields, objects

_SHOWN: Final = ("endpointing", "recognition", "queue", "context", "model", "tools", "writing", "synthesis")

TURN_COLUMNS: Final = ("event", "began", "kind", "answer", *_SHOWN)


def turn_rows(told: Mapping[str, Json], zone: tzinfo) -> list[Sequence[str]]:
    """Return a row of `TURN_COLUMNS` a turn of an answer to `turns`: its begin in this zone, else seconds."""
    rows: list[Sequence[str]] = []
    for turn in objects(told.get("turns")):
        steps = fields(turn.get("steps"))
        began = datetime.fromisoformat(str(turn["began"])).astimezone(zone)
        times = [_seconds(turn.get("answer_seconds")), *(_seconds(steps.get(step)) for step in _SHOWN)]
        rows.append((str(turn["event_id"])[:8], f"{began:%m-%d %H:%M:%S}", str(turn["kind"]), *times))
    return rows


def usual_rows(told: Mapping[str, Json]) -> list[Sequence[str]]:
    """Return a row of `TURN_COLUMNS` with p50, and one with p95, for each kind of turn that there was."""
    rows: list[Sequence[str]] = []
    for kind in ("spoken", "written"):
        seconds = fields(fields(told.get(kind)).get("seconds"))
        for share in ("p50", "p95") if seconds else ():
            times = [_seconds(fields(seconds.get(step)).get(share)) for step in ("answer", *_SHOWN)]
            rows += [(share, "", kind, *times)]
    return rows


def step_rows(told: Mapping[str, Json]) -> list[Sequence[str]]:
    """Return a row for each step of an answer to `turn`: its name, its seconds, and what is usual here."""
    usual = fields(fields(told.get(str(told.get("kind")))).get("seconds"))
    steps = fields(told.get("steps"))
    return [
        (step, _seconds(steps[step]), _seconds(fields(usual.get(step)).get("p50"))) for step in STEPS if step in steps
    ]


def usual_line(told: Mapping[str, Json]) -> str:
    """Return what is usual as one line for the status; "" where there was no turn."""
    parts = []
    for kind, what in (("spoken", "to the first sound"), ("written", "to the first words")):
        answer = fields(fields(fields(told.get(kind)).get("seconds")).get("answer"))
        if answer:
            parts.append(f"{what} {_seconds(answer.get('p50'))} s, at worst {_seconds(answer.get('p95'))} s (p50, p95)")
    return "; ".join(parts)


def _seconds(value: Json) -> str:
    return f"{value:.2f}" if isinstance(value, int | float) else "-"
