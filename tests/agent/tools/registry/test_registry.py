"""Tools of several sources in one registry: each source joins and leaves as one, the order is by name."""

import pytest

from agent.tools.registry.registry import ToolRegistry
from agent.tools.tool import Tool, tool


def named(name: str) -> Tool:
    async def one() -> str:
        """Do one thing."""
        return name

    one.__name__ = name
    return tool(one)


@pytest.mark.shows("B13")
def test_a_source_joins_beside_the_others_and_leaves_as_one() -> None:
    registry = ToolRegistry([named("m"), named("c")])
    registry.join("one", [named("z"), named("a")])
    registry.join("other", [named("b")])
    assert [*registry.names] == ["a", "b", "c", "m", "z"]
    registry.join("one", [named("d")])
    assert [*registry.names] == ["b", "c", "d", "m"]
    registry.join("one", [])
    assert [*registry.names] == ["b", "c", "m"]
    registry.replace([named("m")])
    assert [*registry.names] == ["m"]


@pytest.mark.shows("B13")
def test_two_sources_never_have_one_name_and_nothing_has_changed_then() -> None:
    registry = ToolRegistry([named("m")])
    registry.join("one", [named("a")])
    with pytest.raises(ValueError, match="two tools are named a"):
        registry.join("other", [named("b"), named("a")])
    assert [*registry.names] == ["a", "m"]
    registry.join("other", [named("b")])
    assert [*registry.names] == ["a", "b", "m"]
