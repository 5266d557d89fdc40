"""Which message of a context a task becomes: one table, by its action, which is its topic on bus and journal."""

from collections.abc import Mapping
from typing import Final

from agent.model.messages import Message, Role
from memory.state.tiers import TASK

RESULT: Final = "tools.results"

ROLES: Final[Mapping[str, Role]] = {
    TASK: "user",
    "execute": "user",
    "node.message": "user",
    "thinking": "assistant",
    "node.thinking": "assistant",
    "llm.results": "assistant",
    RESULT: "tool",
}
"""Action -> role: what is to be done and what others say, what the agent thought, what a tool gave."""


def message_of(action: str, content: str) -> Message | None:
    """Return the message that a task becomes, None for an action that is unknown: a context leaves it out."""
    role = ROLES.get(action)
    return None if role is None else Message(role, content)
