"""The system prompt: three modules in fixed order, each replaceable by its owner, and facts about the agent."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Final, Protocol

from msgspec import Struct, field

from agent.context.tokens import TokenCounter
from agent.model.messages import ToolSpec
from agent.tools.registry.finding import are_few

MODULES = ("persona", "system", "tools")
"""The modules of the prompt, in this order."""

MEMORY: Final = "tools"
"""The module about the graph; without tools over one it is left out."""

_IF_THERE: Final = re.compile(r"<<(\w+)\|(.*?)(?:\|\|(.*?))?>>", re.DOTALL)
"""`<<tool|words>>` are words about a tool, `<<tool|words||others>>` with others where it is not there."""


class SystemPrompts(Protocol):
    """Gives the system prompt that an epoch opened now would have."""

    async def system(self, owner_key: str, tools: Sequence[ToolSpec]) -> str:
        """Return the prompt for an owner's context with these tools; the same for the same state of things."""


class Overrides(Protocol):
    """Where owners keep modules of their own."""

    async def of(self, owner_key: str) -> Mapping[str, str]:
        """Return the owner's text of each module they have replaced. Raises `MemoryFailure`."""


class Self(Struct, frozen=True):
    """What is so on this machine now. Nothing in it changes while nobody changes the box."""

    model: str
    """Name of the chosen model."""
    voice: str
    """Name of the voice, "" without one."""
    memory: str
    """What the graph lives in, "" without one."""
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


class Prompts(Struct):
    """The prompts of the house: the modules as shipped or as their owner wants them, then what is known of the box.

    A `SystemPrompts` that knows what its last prompt took, with the tools it was made for.
    """

    overrides: Overrides | None = None
    about: Callable[[], Self] | None = None
    counter: TokenCounter = field(default_factory=TokenCounter)
    _last: tuple[str, tuple[ToolSpec, ...]] = "", ()

    async def system(self, owner_key: str, tools: Sequence[ToolSpec]) -> str:
        """Return the prompt (see `SystemPrompts`). Raises `MemoryFailure` when the overrides cannot be read."""
        own = await self.overrides.of(owner_key) if self.overrides else {}
        text = "\n\n".join([compose(own, tools), *([self.about().text(tools)] if self.about else [])])
        self._last = text, tuple(tools)
        return text

    @property
    def tokens(self) -> int:
        """Of the last prompt and its tools together; 0 before the first one. Counted when it is asked for."""
        text, tools = self._last
        return self.counter.count(text) + self.counter.of_tools(tools) if text else 0


def compose(overrides: Mapping[str, str] | None = None, tools: Sequence[ToolSpec] | None = None) -> str:
    """Return the modules in fixed order, each replaced by its override if there is one with words in it.

    What they say of tools is said of those that are there; without a list, of all. Where the rest of them is to be
    found (`agent.tools.registry.finding`), the modules are the short ones.
    """
    given, names = overrides or {}, None if tools is None else frozenset(spec.name for spec in tools)
    folder = "small/" if are_few(tools or ()) else ""
    wanted = [name for name in MODULES if name != MEMORY or names is None or "memory_query" in names]
    return "\n\n".join(given.get(name, "").strip() or _said(_shipped(f"{folder}{name}.md"), names) for name in wanted)


def _said(text: str, names: Collection[str] | None) -> str:
    """Return a module with the words that hold for these tools."""

    def chosen(found: re.Match[str]) -> str:
        return found[2] if names is None or found[1] in names else found[3] or ""

    return _IF_THERE.sub(chosen, text).strip()


def shipped(module: str) -> str:
    """Return a module as it comes with the box, whole."""
    return _said(_shipped(f"{module}.md"), None)


@cache
def _shipped(path: str) -> str:
    return files(__package__).joinpath(path).read_text(encoding="utf-8")
