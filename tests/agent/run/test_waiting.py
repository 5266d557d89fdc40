"""What a person hears while something takes its time, and when it is given up; in virtual time."""

import asyncio
from pathlib import Path

import pytest

from agent.run.act import FILLER_AFTER, FILLER_SOON
from agent.run.budget import RUN_SECONDS
from agent.tools.tool import DEFAULT_TIMEOUT, tool
from memory.json_value import Json
from tests.agent.mind import a_mind, spoken
from tests.fakes import ScriptedModel, calls
from tests.room.virtual_time import passed, run_virtually

HELLO = ("reply", '{"text": "Here it is."}')


async def said_and_seconds(
    folder: Path, tool_seconds: float, *, is_slow: bool = False
) -> tuple[list[str], float, list[str]]:
    """Return what was said, how long it took, and the tools' results, when two rounds take so long each."""
    clock = asyncio.get_running_loop().time

    async def dig() -> Json:
        """Dig."""
        await passed(tool_seconds)
        return "found"

    model = ScriptedModel(calls(("dig", "{}"), prefix="a"), calls(("dig", "{ }"), prefix="b"), calls(HELLO, prefix="c"))
    async with a_mind(folder, [model], [tool(dig, is_slow=is_slow)]) as mind:
        await mind.mailbox.enqueue(spoken("dig it up"))
        hand = await mind.mailbox.take()
        began = clock()
        await mind.loop.handle(hand)
        results = [message.content for message in mind.loop_epoch.messages if message.role == "tool"]
        return mind.outlet.said, clock() - began, results


@pytest.mark.shows("G1")
@pytest.mark.parametrize(("seconds", "fillers"), [(FILLER_AFTER - 0.1, 0), (FILLER_AFTER + 0.1, 1)])
def test_after_a_second_and_a_half_it_says_once_that_it_takes_a_moment(
    tmp_path: Path, seconds: float, fillers: int
) -> None:
    said, took, results = run_virtually(said_and_seconds(tmp_path, seconds))
    assert said == ["One moment."] * fillers + ["Here it is."]
    assert results[:2] == ["found", "found"]
    assert took == pytest.approx(2 * seconds, abs=0.01)


@pytest.mark.shows("B9")
def test_a_tool_that_hangs_is_given_up_in_time(tmp_path: Path) -> None:
    said, took, results = run_virtually(said_and_seconds(tmp_path, RUN_SECONDS))
    assert said == ["One moment.", "Here it is."]
    assert results[:2] == [f"error: dig took longer than {DEFAULT_TIMEOUT:g} s and was stopped"] * 2
    assert took == pytest.approx(2 * DEFAULT_TIMEOUT, abs=0.5)


@pytest.mark.shows("G1")
@pytest.mark.parametrize(("seconds", "fillers"), [(0.05, 0), (FILLER_SOON - 0.1, 0), (FILLER_SOON + 0.1, 1), (3.0, 1)])
def test_a_tool_that_is_expected_to_be_slow_is_announced_soon_and_only_where_it_is(
    tmp_path: Path, seconds: float, fillers: int
) -> None:
    said, _, _ = run_virtually(said_and_seconds(tmp_path, seconds, is_slow=True))
    assert said == ["One moment."] * fillers + ["Here it is."]


@pytest.mark.shows("G1")
def test_a_tool_that_was_slow_the_last_time_is_announced_soon(tmp_path: Path) -> None:
    async def announced(folder: Path) -> list[float]:
        """Return how long after each order its announcement came."""
        clock = asyncio.get_running_loop().time

        async def dig() -> Json:
            """Dig."""
            await passed(2.0)
            return "found"

        answers = [calls(("dig", "{}"), prefix="a"), calls(HELLO, prefix="b")]
        again = [calls(("dig", "{}"), prefix="c"), calls(HELLO, prefix="d")]
        after = []
        async with a_mind(folder, [ScriptedModel(*answers, *again)], [tool(dig)]) as mind:
            for words in ("dig it up", "once more"):
                began, heard = clock(), len(mind.outlet.heard_at)
                await mind.handle(spoken(words))
                after.append(mind.outlet.heard_at[heard][1] - began)
        return after

    first, second = run_virtually(announced(tmp_path))
    assert first == pytest.approx(FILLER_AFTER, abs=0.05)
    assert second == pytest.approx(FILLER_SOON, abs=0.05)
