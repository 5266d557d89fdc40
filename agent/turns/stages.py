"""The stages of a turn, each marked where it happens, on the clock of the ears and the mouth."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, timedelta
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from msgspec import Struct

from agent.event import Event, utc_now, utc_text
from memory.json_value import Json, fields

if TYPE_CHECKING:
    from agent.mailbox import Lease

TURN_ENDED: Final = "turns.ended"
"""Topic of the envelope that tells how long the stages of a turn took; its run is over."""

Stage: TypeAlias = Literal[
    "received",
    "speech_started",
    "speech_ended",
    "committed",
    "text",
    "filed",
    "taken",
    "context",
    "asked",
    "first_token",
    "first_sentence",
    "synthesized",
    "first_sound",
    "first_text",
    "done",
]
"""received: a line of text came; committed: the turn was over; text: its words were known; filed: they were in the
mailbox; taken: in hand; context: built; asked: the first model was; first_sentence: the first, or a clause of it, was
whole; synthesized: the voice gave its first sound; first_sound: that left the loudspeaker; first_text: the first words
were written."""

FROM_EARS: Final[tuple[Stage, ...]] = ("speech_started", "speech_ended", "committed", "text")
"""What the event of a spoken turn brings along."""

MOST_FILED: Final = 256
"""Events whose filing is remembered until they are taken in hand."""

MOST_STEPS: Final = 50
"""Calls of models, and of tools, of one turn that are told apart."""

_LONGEST_RECEPTION: Final = 60.0
"""Seconds between the making of an event and its filing; past it the wall clock was set."""


def loop_time() -> float:
    """Return the seconds of the running event loop's clock: `time.monotonic`, as the ears and the mouth have it."""
    return asyncio.get_running_loop().time()


class Call(Struct):
    """One call of a model or a tool. Seconds on the clock of the stages; None for what did not happen."""

    name: str
    began: float
    first_token: float | None = None
    ended: float | None = None


class Stages(Struct):
    """Marks of one turn. Each mark costs a look at the clock and an entry of a dict; nothing is written before the end.

    Of several marks of a stage the first counts.
    """

    clock: Callable[[], float] = loop_time
    marks: dict[Stage, float] = {}
    """Seconds on the clock."""
    models: list[Call] = []
    tools: list[Call] = []

    def mark(self, stage: Stage, at: float | None = None) -> None:
        """Take that a stage is reached: now, or at a moment on the clock (s)."""
        if stage not in self.marks:
            self.marks[stage] = self.clock() if at is None else at

    def ask(self, model: str) -> Call:
        """Take that a model is asked; its `Call` is to be told of the first token and the end."""
        self.mark("asked")
        call = Call(model, self.clock())
        if len(self.models) < MOST_STEPS:
            self.models.append(call)
        return call

    def answers(self, call: Call) -> float:
        """Take that a model says something, and return when it first did (s): that counts."""
        if call.first_token is None:
            call.first_token = self.clock()
            self.mark("first_token", call.first_token)
        return call.first_token

    def used(self, tool: str, began: float, ended: float) -> None:
        """Take that a tool was used from one moment to another (s)."""
        if len(self.tools) < MOST_STEPS:
            self.tools.append(Call(tool, began, ended=ended))

    def body(self, status: str) -> dict[str, Json]:
        """Return the waterfall: all times in seconds since `began`, which is the turn's beginning on the wall clock.

        A spoken turn begins when its speech ended, a written one when it was received; what is taken up again later,
        when it was taken in hand.
        """
        begun: tuple[Stage, ...] = ("speech_ended", "received", "filed", "taken")
        zero = next((self.marks[stage] for stage in begun if stage in self.marks), self.clock())
        now, wall = self.clock(), utc_now()

        def since(at: float | None) -> Json:
            return None if at is None else round(at - zero, 4)

        reached = sorted(self.marks.items(), key=lambda mark: mark[1])
        return {
            "kind": "spoken" if "speech_ended" in self.marks else "written",
            "status": status,
            "began": utc_text(wall - timedelta(seconds=now - zero)),
            "stages": {stage: since(at) for stage, at in reached},
            "models": [
                {
                    "model": call.name,
                    "asked": since(call.began),
                    "first_token": since(call.first_token),
                    "ended": since(call.ended),
                }
                for call in self.models
            ],
            "tools": [
                {"tool": call.name, "began": since(call.began), "ended": since(call.ended)} for call in self.tools
            ],
        }


class Arrivals:
    """When events were filed: an observer of the mailbox's arrivals, which have no such moment on the clock."""

    def __init__(self, clock: Callable[[], float] = loop_time) -> None:
        self._clock = clock
        self._filed: OrderedDict[str, dict[Stage, float]] = OrderedDict()
        """By the id of the event; the oldest first."""

    def __call__(self, event: Event) -> None:
        """Take that an event was filed just now."""
        if not event.is_from_person:
            return
        filed = self._clock()
        timing = fields(event.metadata.get("timing"))
        marks: dict[Stage, float] = {
            stage: float(at) for stage in FROM_EARS if isinstance(at := timing.get(stage), int | float)
        }
        ago = (utc_now() - event.created_at.astimezone(UTC)).total_seconds()
        if not marks and 0.0 <= ago < _LONGEST_RECEPTION:
            marks = {"received": filed - ago}
        self._filed[event.id] = {**marks, "filed": filed}
        if len(self._filed) > MOST_FILED:
            self._filed.popitem(last=False)

    def __len__(self) -> int:
        return len(self._filed)

    def stages_of(self, lease: "Lease") -> Stages:
        """Return the stages of an event that is taken in hand now; of one that comes again, from now on."""
        marks = self._filed.pop(lease.event.id, {})
        stages = Stages(self._clock, marks if lease.attempt == 1 and not lease.note else {})
        stages.mark("taken")
        return stages
