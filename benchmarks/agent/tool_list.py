"""How many tokens the list of tools takes of each request, with everything on."""

import asyncio
import tempfile
from collections import Counter
from pathlib import Path
from typing import Final

from agent.context.tokens import TokenCounter
from agent.tools.registry.registry import ToolRegistry
from agent.tools.tool import Tool
from appliance.config.agent.tools import ToolSettings
from appliance.config.load import load
from benchmarks.figure import Figure, Series, run
from tests.agent.tools.registry.house_of_tools import home_tools, own_tools
from tests.appliance.wiring.every_tool import every_tool

SHOWS = ("D17",)

FILES: Final = 50


def measure(*, quick: bool = False) -> Figure:
    """Count what the built-in tools, Home Assistant's and fifty files take, all listed and within the bound."""
    with tempfile.TemporaryDirectory(prefix="nakari-bench-") as name:
        return asyncio.run(_measure(Path(name)))


async def _measure(folder: Path) -> Figure:
    config = load(None, {"HOME": str(folder), "XDG_STATE_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)})
    tokens, most = TokenCounter(), ToolSettings().most_tokens
    tokens.load()
    async with every_tool(config) as built_in:
        parts: dict[str, list[Tool]] = {
            "built in": built_in,
            "Home Assistant's": home_tools(),
            "own files": own_tools(folder / "tools", FILES),
        }
        every = [tool for part in parts.values() for tool in part]
        whole, bounded = ToolRegistry(every), ToolRegistry(every, most_tokens=lambda: most)
        costs = {name: tokens.of_tools(tuple(each.spec for each in part)) for name, part in parts.items()}
        there = {spec.name for spec in bounded.specs_for("")}
        away = Counter(tool.group for tool in every if tool.name not in there)
        ours, against = (float(tokens.of_tools(registry.specs_for(""))) for registry in (bounded, whole))
    each = ", ".join(f"{len(parts[name])} {name} {cost}" for name, cost in costs.items())
    named = ", ".join(f"{count} of {group}" for group, count in sorted(away.items()))
    return Figure(
        "Tool list, everything on",
        Series(f"within [tools] most_tokens = {most}", "tokens", (ours,)),
        Series("every tool listed", "tokens", (against,)),
        (f"{each}; named, and found: {named or 'none'}",),
    )


if __name__ == "__main__":
    run(measure)
