"""What a turn asks of the disk, counted: a step more than needed is a wait more for whoever spoke."""

from collections import Counter
from pathlib import Path

import pytest

from agent.event import Event
from agent.model.messages import Message
from agent.tools.tool import tool
from tests.agent.mind import TestMind, a_mind, spoken, typed
from tests.fakes import ScriptedModel, calls


async def look() -> str:
    """Look out of the window."""
    return "rain"


ASKED: dict[str, tuple[Event, list[Message], dict[str, int]]] = {
    "words": (
        spoken("is it dry?"),
        [calls(("reply", '{"text": "It rains."}'))],
        # accepted; asked; answered and about to speak; spoken; over
        {"commits": 8, "syncs": 5, "reads": 2},
    ),
    "a tool": (
        typed("is it dry?"),
        [calls(("look", "{}")), calls(("reply", '{"text": "It rains."}'), prefix="b")],
        # accepted; asked; about to look; asked again with what was seen; about to answer; answered; over
        {"commits": 12, "syncs": 7, "reads": 2},
    ),
}
"""What is handled, how the model answers, and what it costs: each sync stands before something that acts outside."""


@pytest.mark.shows("A24", "H9")
@pytest.mark.parametrize("what", ASKED)
async def test_a_turn_waits_for_the_disk_only_where_something_acts(tmp_path: Path, what: str) -> None:
    event, answers, costs = ASKED[what]
    first = typed("hello") if event.source == "cli" else spoken("hello")
    greeting = calls(("reply", '{"text": "Hello."}'), prefix="greeting")
    async with a_mind(tmp_path, [ScriptedModel(greeting, *answers)], [tool(look, effect="pure")]) as mind:
        await mind.handle(first)  # which opens the context
        statements = await watched(mind)
        await mind.handle(event)
        assert cost(statements) == costs
        assert await mind.state_of(event) == "completed"


async def watched(mind: TestMind) -> list[str]:
    """Return the list that every statement of the state database is added to from now on."""
    statements: list[str] = []
    await mind.journal.database.read(lambda connection: connection.set_trace_callback(statements.append))
    statements.clear()
    return statements


def cost(statements: list[str]) -> dict[str, int]:
    """Return how many transactions there were, how many of them waited for the disk, and how many looks."""
    counted = Counter(statements)
    return {
        "commits": counted["COMMIT"],
        "syncs": counted["PRAGMA synchronous=FULL"],
        "reads": counted["PRAGMA query_only=ON"],
    }
