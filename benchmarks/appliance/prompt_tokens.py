"""How many tokens prompt and tools take of each request: with little room against with plenty."""

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from agent.context.tokens import TokenCounter
from agent.event import HOUSEHOLD
from agent.model.chain import Chain
from agent.model.messages import ToolSpec
from agent.model.wire.openai import encode, tools_to_openai
from agent.prompts import Prompts
from agent.tools.registry.registry import ToolRegistry
from appliance.config.load import load
from appliance.wiring.agent.agent import about
from benchmarks.figure import Figure, Series, run
from tests.appliance.wiring.every_tool import every_tool

SMALL: Final = 8192
"""Tokens; up to it a window is a small one."""


def measure(*, quick: bool = False) -> Figure:
    """Count what a box as it comes puts before the first word of a context."""
    with tempfile.TemporaryDirectory(prefix="nakari-bench-") as name:
        return asyncio.run(_measure(Path(name)))


async def _measure(folder: Path) -> Figure:
    from agent.intents.model import OfflineModel

    config = load(None, {"HOME": str(folder), "XDG_STATE_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)})
    tokens = TokenCounter()
    tokens.load()
    counts, notes = [], []
    async with every_tool(config) as tools:
        for what, has_little_room in (("small window", True), ("large window", False)):
            specs = ToolRegistry(tools, lambda little=has_little_room: little).specs_for("")  # type: ignore[misc]
            prompt = await Prompts(None, about(config, Chain.of([OfflineModel()]))).system(HOUSEHOLD, specs)
            taken = tokens.count(prompt), tokens.of_tools(specs)
            counts.append(float(sum(taken)))
            notes.append(_told(what, taken, specs, tokens))
    ours, against = (
        Series(f"prompt and tools, {what}", "tokens", (count,))
        for what, count in zip(("8k and below", "beyond"), counts, strict=True)
    )
    return Figure("Prompt and tools", ours, against, tuple(notes))


def _told(what: str, taken: tuple[int, int], specs: Sequence[ToolSpec], tokens: TokenCounter) -> str:
    on_the_wire = tokens.count(encode([*tools_to_openai(specs)]).decode())
    share = 100 * sum(taken) / SMALL
    return (
        f"{what}: {taken[0]} tokens of prompt, {taken[1]} of {len(specs)} tools ({on_the_wire} as JSON on the wire); "
        f"{share:.0f} % of 8,192"
    )


if __name__ == "__main__":
    run(measure)
