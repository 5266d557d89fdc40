"""How much an epoch may hold, and how much the next one takes along."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from agent.context.carried import Shares

LEAST_ROOM: Final = 500
"""Tokens an epoch has room for behind its prefix, however large that is: else it would begin anew at every event."""

Limits: TypeAlias = "Callable[[], ContextLimits]"
"""Returns the limits in force now: they change with what is learnt of the models."""


@dataclass(frozen=True, slots=True)
class ContextLimits:
    """How much an epoch may hold, and how much the next one takes along."""

    history_messages: int = 20
    """Of the newest messages."""
    history_tokens: int = 4_000
    """Of the newest messages together."""
    compress_above_tokens: int = 24_000
    summary_tokens: int = 1_000
    """The longest summary, a model's or the agent's."""
    kept_tokens: int = 2_000
    """Of all that the agent keeps word for word."""
    window_tokens: int = 0
    """The longest list that the models in question read, with room for an answer; 0 where nobody knows."""

    @property
    def exact_from(self) -> int:
        """From so many estimated tokens on they are counted: no estimate by bytes is wrong by half."""
        return min(self.compress_above_tokens, self.window_tokens or self.compress_above_tokens) // 2

    def shares(self, prefix: int, refused: int = 0) -> Shares:
        """Return the shares of an epoch whose prefix has so many tokens; `refused` is what a refusal taught, or 0.

        Together they leave at least a third of what is behind the prefix to the events to come.
        """
        most = min((each for each in (self.window_tokens, refused) if each), default=0)
        # An eighth is left to the next question, so that it finds room, and a model can sum up after it.
        bound = most - max(most - prefix, 0) // 8 if most else self.compress_above_tokens
        full = max(min(self.compress_above_tokens, bound), prefix + LEAST_ROOM)
        room = full - prefix
        return Shares(
            full,
            most,
            prefix + max(most - prefix, 0) * 3 // 4 if most else full,
            self.history_messages,
            min(self.history_tokens, room // 5),
            min(self.summary_tokens, room // 8),
            min(self.kept_tokens, room // 8),
            min(self.summary_tokens, room // 16),
        )
