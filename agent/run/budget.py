"""The budget of an event: how many tool calls and model calls it may use, and for how long it may run."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from agent.event import Event

SPARE_MODEL_CALLS: Final = 3
"""Model calls over an event's life are at most its budget and three, resumes included."""

MAX_GRANTS: Final = 2
"""An event suspended for budget gets a fresh grant at most twice, then the dead letter."""


RUN_SECONDS: Final = 300.0
"""The longest a run may think and act; what it says may take longer to be heard."""

UNUSABLE_STATE_PAUSE: Final = 5.0
"""Seconds between tries while the state database cannot be used."""


@dataclass(frozen=True, slots=True)
class RunLimits:
    """What a run may take at most, whatever its event asks for."""

    max_tool_calls: int | None = None
    """The system's cap; None leaves each event its own."""
    of_owner: Callable[[str], int | None] | None = None
    """Returns how many tool calls an owner wants any event of theirs to use at most, None for no wish."""
    seconds: float = RUN_SECONDS
    """By the clock, before it is ended as timed out."""
    retry_seconds: float = UNUSABLE_STATE_PAUSE
    """Between two tries on a state that cannot be used."""

    def tool_calls(self, event: Event) -> int:
        """Return how many tool calls an event may use: the least of what it, its owner and the system allow."""
        wish = self.of_owner(event.owner_key) if self.of_owner is not None else None
        return min(cap for cap in (event.max_tool_calls, self.max_tool_calls, wish) if cap is not None)


@dataclass(slots=True)
class Budget:
    """What one event may use and has used; restored from the mailbox when the event comes back."""

    max_tool_calls: int
    tool_calls: int = 0
    model_calls: int = 0

    @property
    def left(self) -> int:
        """Tool calls that may still be made."""
        return max(0, self.max_tool_calls - self.tool_calls)

    @property
    def may_think(self) -> bool:
        """Whether another model call is within the hard law."""
        return self.model_calls < self.max_tool_calls + SPARE_MODEL_CALLS

    def grant(self, wanted: int) -> int:
        """Return how many of `wanted` counted calls may run, and count those."""
        granted = min(wanted, self.left)
        self.tool_calls += granted
        return granted
