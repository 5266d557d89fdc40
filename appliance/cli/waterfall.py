"""Where the time of a turn went: speech ended, committed, text, first token, first sound."""

from dataclasses import dataclass, field
from typing import Final

from agent.event import Event
from appliance.output.voice import FIRST_SOUND

STAGES: Final = ("speech ended", "committed", "text", "first token", "first sound")
_FROM_EARS: Final = {"speech_ended": "speech ended", "committed": "committed", "text": "text"}


@dataclass(slots=True)
class Waterfall:
    """Collects the marks of one turn from the envelopes of its run."""

    event_id: str
    marks: dict[str, float] = field(default_factory=dict)
    """Stage -> seconds on `time.monotonic`."""

    def begin(self, event: Event) -> None:
        """Take the ears' marks from the event itself."""
        timing = event.metadata.get("timing")
        if isinstance(timing, dict):
            self.marks |= {
                stage: at for key, stage in _FROM_EARS.items() if isinstance(at := timing.get(key), int | float)
            }

    def take(self, envelope: Event) -> None:
        """Take a mark from an envelope of the run; the first of its kind counts."""
        if envelope.parent_id != self.event_id:
            return
        if envelope.type == "llm.results" and isinstance(at := envelope.metadata.get("first_token_at"), float):
            self.marks.setdefault("first token", at)
        if envelope.type == FIRST_SOUND and isinstance(at := envelope.metadata.get("at"), float):
            self.marks.setdefault("first sound", at)

    @property
    def rows(self) -> list[tuple[str, float, float]]:
        """Stage, seconds since speech ended, seconds since the stage before; only stages that were reached."""
        reached = [(stage, self.marks[stage]) for stage in STAGES if stage in self.marks]
        rows: list[tuple[str, float, float]] = []
        for index, (stage, at) in enumerate(reached):
            before = reached[index - 1][1] if index else at
            rows.append((stage, at - reached[0][1], at - before))
        return rows
