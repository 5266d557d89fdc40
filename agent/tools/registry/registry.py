"""The registry of tools, sorted by name, so that the same tools always read the same to a model."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from agent.model.messages import ToolSpec
from agent.tools.registry.finding import finding_tools, grouped, offered
from agent.tools.tool import Tool


class ToolRegistry:
    """The tools that there are now; an epoch freezes the specs it was opened with."""

    def __init__(
        self,
        tools: Iterable[Tool],
        has_little_room: Callable[[], bool] | None = None,
        amended: Callable[[Tool], Tool] = lambda tool: tool,
        most_tokens: Callable[[], int] | None = None,
    ) -> None:
        """`has_little_room` tells whether the model that thinks is offered a few only and finds the others.

        None is the registry of a box whose models are offered all, always. `amended` returns a tool as the house wants
        it, whoever it came from. Past `most_tokens` of the whole list the largest groups of tools are only named in it,
        and found; None lists all.
        """
        self._most_tokens = most_tokens
        self._amended = amended
        self._has_little_room = has_little_room
        is_found = has_little_room is not None or most_tokens is not None
        self._finding = {tool.name: tool for tool in finding_tools(lambda: self)} if is_found else {}
        self.replace(tools)

    def replace(self, tools: Iterable[Tool]) -> None:
        """Have these tools from now on: who is missing is unavailable at once, who is new joins at the next epoch.

        Raises ValueError when two have one name; nothing has changed then.
        """
        self._set({"": tuple(tools)})

    def join(self, source: str, tools: Iterable[Tool]) -> None:
        """Have these tools of a source beside all others from now on, instead of those it had; as `replace` does."""
        self._set({**self._sources, source: tuple(tools)})

    def _set(self, sources: Mapping[str, Sequence[Tool]]) -> None:
        by_name: dict[str, Tool] = {}
        every = ((source, tool) for source, tools in sources.items() for tool in tools)
        for source, tool in every:
            if tool.name in by_name:
                raise ValueError(f"two tools are named {tool.name}: rename one")
            by_name[tool.name] = self._amended(replace(tool, group=tool.group or source))
        self._sources = sources
        self._tools = dict(sorted(by_name.items()))

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def find(self, name: str) -> Tool | None:
        """Return the tool of that name, or None; also one that is not offered."""
        return self._tools.get(name) or self._finding.get(name)

    @property
    def names(self) -> tuple[str, ...]:
        """All names, sorted."""
        return tuple(self._tools)

    def unknown(self, names: Iterable[str]) -> list[str]:
        """Return those of the names that no tool has now."""
        return [name for name in names if name not in self._tools]

    def specs_for(self, event_type: str) -> tuple[ToolSpec, ...]:
        """Return what the model is told in the context of an event of this type, sorted by name."""
        listed = [tool for tool in self if tool.offered_in is None or tool.offered_in(event_type)]
        if self._has_little_room is not None and self._has_little_room():
            return offered(listed, self._finding.values())
        if self._most_tokens is not None:
            return grouped(listed, self._finding.values(), self._most_tokens())
        return tuple(tool.spec for tool in listed)
