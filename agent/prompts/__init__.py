"""The system prompt: three modules in fixed order, each replaceable by its owner, and facts about the agent."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Protocol

from agent.model.messages import ToolSpec

MODULES = ("persona", "system", "tools")
"""seeds/000: the prompt's modules, in this order."""


class SystemPrompts(Protocol):
    """Gives the system prompt that an epoch opened now would have."""

    async def system(self, owner_key: str, tools: Sequence[ToolSpec]) -> str:
        """Return the prompt for an owner's context with these tools; the same for the same state of things."""


class Overrides(Protocol):
    """Where owners keep modules of their own."""

    async def of(self, owner_key: str) -> Mapping[str, str]:
        """Return the owner's text of each module they have replaced. Raises `MemoryFailure`."""


@dataclass(frozen=True, slots=True)
class Self:
    """What is so on this machine now. Nothing in it changes while nobody changes the box."""

    model: str
    """Name of the chosen model."""
    voice: str
    """Name of the voice, "" without one."""
    memory: str
    """What her graph lives in, "" without one."""
    leaving: tuple[str, ...]
    """What goes beyond this machine and where to, one clause each; empty when nothing does."""
    max_tool_calls: int
    """The most tool calls of an event."""

    def text(self, tools: Sequence[ToolSpec]) -> str:
        """Return it as the last part of the prompt."""
        leaving = "; ".join(self.leaving)
        return "\n".join(
            [
                "# What you have here",
                "",
                f"- You think with {self.model}.",
                f"- You speak with {self.voice}." if self.voice else "- You have no voice here; you answer in text.",
                f"- Your graph lives in {self.memory}." if self.memory else "- You have no graph here.",
                f"- Your tools: {', '.join(spec.name for spec in tools)}.",
                f"- An event may use {self.max_tool_calls} tool calls at most.",
                f"- What leaves this machine: {leaving}." if leaving else "- Nothing that is said leaves this machine.",
            ]
        )


class Prompts:
    """The prompts of the house: the modules as shipped or as their owner wants them, then what she knows of herself."""

    def __init__(self, overrides: Overrides | None = None, about: Callable[[], Self] | None = None) -> None:
        self._overrides = overrides
        self._about = about

    async def system(self, owner_key: str, tools: Sequence[ToolSpec]) -> str:
        """Return the prompt (see `SystemPrompts`). Raises `MemoryFailure` when the overrides cannot be read."""
        own = await self._overrides.of(owner_key) if self._overrides else {}
        parts = [compose(own), *([self._about().text(tools)] if self._about else [])]
        return "\n\n".join(parts)


def compose(overrides: Mapping[str, str] | None = None) -> str:
    """Return the three modules in fixed order, each replaced by its override if there is one with words in it."""
    given = overrides or {}
    return "\n\n".join((given.get(name, "").strip() or _shipped(name).strip()) for name in MODULES)


@cache
def _shipped(name: str) -> str:
    return files(__package__).joinpath(f"{name}.md").read_text(encoding="utf-8")
