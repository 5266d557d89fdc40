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


async def ring() -> str:
    """Ring a bell, which cannot be taken back."""
    return "rung"


HELLO = calls(("reply", '{"text": "Hello."}'), prefix="greeting")
RAINS = calls(("reply", '{"text": "It rains."}'), prefix="b")

ASKED: dict[str, tuple[Event, list[Message], dict[str, int]]] = {
    "words": (
        spoken("is it dry?"),
        [RAINS],
        # accepted (the disk has it while it is thought about); taken; asked; answered and over
        {"commits": 4, "syncs": 0, "reads": 0},
    ),
    "a tool": (
        typed("is it dry?"),
        [calls(("look", "{}")), RAINS],
        # accepted (which waits for the disk); taken; asked; about to look; asked again with what was seen; over
        {"commits": 6, "syncs": 1, "reads": 0},
    ),
    "a tool with an effect": (
        typed("is it dry?"),
        [calls(("ring", "{}")), RAINS],
        # as before, but both waits for the disk that an effect needs: before it is begun, and once it is known
        {"commits": 6, "syncs": 3, "reads": 0},
    ),
    "a sound that takes its time": (
        spoken("is it dry?"),
        [RAINS],
        # accepted; taken; asked; what is being said, for which no sound waits; over
        {"commits": 5, "syncs": 0, "reads": 0},
    ),
}
"""What is handled, how the model answers, what it costs: each sync waited for stands before what acts outside."""


@pytest.mark.shows("A24", "H9")
@pytest.mark.parametrize("what", ASKED)
async def test_a_turn_waits_for_the_disk_only_where_something_acts(tmp_path: Path, what: str) -> None:
    event, answers, costs = ASKED[what]
    first = typed("hello") if event.source == "cli" else spoken("hello")
    tools = [tool(look, effect="pure"), tool(ring)]
    async with a_mind(tmp_path, [ScriptedModel(HELLO, *answers)], tools) as mind:
        await mind.handle(first)  # which opens the context
        statements = await watched(mind)
        if what != "a sound that takes its time":
            await mind.handle(event)
        else:
            mind.outlet.playing.clear()
            decided = aiter(mind.mind.bus.observe("tools.results"))
            async with mind.at_work(event):
                await anext(decided)
                mind.outlet.playing.set()
        assert cost(statements) == costs
        assert await mind.state_of(event) == "completed"


@pytest.mark.shows("A24")
async def test_what_was_left_unsaid_is_looked_up_only_where_something_may_have_been(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [ScriptedModel(HELLO, RAINS)]) as mind:
        await mind.handle(spoken("hello"))
        assert not mind.loop_epoch.may_have_unsaid
        mind.outlet.hears = ""
        await silenced(mind, spoken("is it dry?"))
        assert mind.loop_epoch.may_have_unsaid


async def silenced(mind: TestMind, event: Event) -> None:
    """Handle an event whose reply is hushed while it plays."""
    mind.outlet.playing.clear()
    mind.outlet.sentence_said.clear()
    async with mind.at_work(event):
        await mind.outlet.sentence_said.wait()
        mind.loop.interrupt()


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
