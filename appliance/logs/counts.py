"""Counts of what happened since the start, without a word of it: for Prometheus, and whoever else watches."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from itertools import accumulate
from typing import Final

from msgspec import Struct, field

from agent import replies
from agent.bus import Bus
from agent.event import Event
from agent.turns import stages
from memory.json_value import Json

BOUNDS: Final = (0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0, 13.0, 30.0, 60.0)
"""Seconds: the upper bounds of the classes; dense where a person begins to wait."""

OTHER: Final = "other"
"""What is not among the names that there are: a label takes no value that a model or a stranger chose."""

STAGES: Final = frozenset(
    {"text", "taken", "context", "first_token", "first_sentence", "first_sound", "first_text", "done"}
)
"""Stages of a turn that are told: seconds from the end of the speech, or from the arrival of a line."""

_STATUSES: Final = frozenset({"COMPLETED", "FAILED", "TIMED_OUT", "SUSPENDED"})
_REASONS: Final = frozenset({"stop", "tool_calls", "length", "content_filter", "lost"})
_CALLS: Final = frozenset({"ok", "error", "refused", "cancelled", "asked"})


class Spread(Struct):
    """Durations, counted by their length."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    seconds: float = 0.0
    """Of all together."""

    def add(self, seconds: float) -> None:
        """Count one."""
        self.counts[bisect_left(BOUNDS, seconds)] += 1
        self.seconds += seconds

    @property
    def up_to(self) -> list[int]:
        """How many were at most as long as each bound, and at last all."""
        return [*accumulate(self.counts)]


class Counts(Struct):
    """Counts envelopes of the bus as they pass; one that is lost to a slow loop is not counted."""

    bus: Bus
    tool_names: Callable[[], Collection[str]]
    runs: Counter[str] = field(default_factory=Counter)
    """Runs that are over, by status."""
    tools: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Calls with a result, by tool and status."""
    model_calls: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By model and the reason why it ended."""
    tokens: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By model and kind: prompt, cached (of the prompt's), completion."""
    cost_usd: dict[str, float] = {}
    """By model."""
    model_seconds: dict[str, Spread] = {}
    """From asking to the end of the answer, by model."""
    first_token_seconds: dict[str, Spread] = {}
    turns: dict[tuple[str, str], Spread] = {}
    """By kind of the turn, spoken or written, and stage."""
    sentences: int = 0
    """That began to sound."""

    async def run(self) -> None:
        """Count until cancelled."""
        await self.bus.attend("*", self._take)

    async def _take(self, envelope: Event) -> None:
        body = envelope.metadata
        match envelope.type:
            case "ui.events":
                self._stepped(body)
            case "llm.results":
                if "finish_reason" in body:
                    self._answered(body)
            case stages.TURN_ENDED:
                self._turned(body)
            case replies.SENTENCE_STARTED:
                self.sentences += 1

    def _stepped(self, body: Mapping[str, Json]) -> None:
        status = str(body.get("status", ""))
        match body.get("event"):
            case "run_finished":
                self.runs[status if status in _STATUSES else OTHER] += 1
            case "tool_call_finished":
                name = str(body.get("tool_name", ""))
                self.tools[name if name in self.tool_names() else OTHER, status if status in _CALLS else OTHER] += 1

    def _answered(self, body: Mapping[str, Json]) -> None:
        model, reason = str(body.get("model", "")), str(body["finish_reason"])
        self.model_calls[model, reason if reason in _REASONS else OTHER] += 1
        for kind in ("prompt", "cached", "completion"):
            if isinstance(count := body.get(f"{kind}_tokens"), int):
                self.tokens[model, kind] += count
        if isinstance(cost := body.get("cost_usd"), float):
            self.cost_usd[model] = self.cost_usd.get(model, 0.0) + cost
        for name, spreads in (("seconds", self.model_seconds), ("first_token_seconds", self.first_token_seconds)):
            if isinstance(seconds := body.get(name), float):
                spreads.setdefault(model, Spread()).add(seconds)

    def _turned(self, body: Mapping[str, Json]) -> None:
        reached, kind = body.get("stages"), "spoken" if body.get("kind") == "spoken" else "written"
        for stage, seconds in reached.items() if isinstance(reached, dict) else ():
            if stage in STAGES and isinstance(seconds, float):
                self.turns.setdefault((kind, stage), Spread()).add(seconds)
