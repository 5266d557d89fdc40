"""The law of an event's budget: how many tool calls, and how many model calls at the very most."""

from dataclasses import dataclass
from typing import Final

SPARE_MODEL_CALLS: Final = 3
"""DESIGN 5: model calls over an event's life are at most its budget and three, resumes included."""


MAX_GRANTS: Final = 2
"""DESIGN 5: an event suspended for budget gets a fresh grant at most twice, then the dead letter."""


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
