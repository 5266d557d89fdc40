"""Somebody who asked in writing and presses Ctrl-C: that answer ends in the service too, and no other does."""

import asyncio
import signal
import sys
from asyncio import to_thread
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.bus import Observer
from appliance.api.client import Question, answer_to, tell
from appliance.errors import INTERRUPTED, Exit, Problem
from memory.identity import new_key
from tests.appliance.command import Terminal, environment, started
from tests.service.living import Living, living
from tests.service.process import Household

ANSWER = "Very well, thank you."
LONG = "tell me all there is about glaciers"
COMMAND = (sys.executable, "-m", "appliance", "--config")


@pytest.fixture
async def box(tmp_path: Path) -> AsyncIterator[Living]:
    """A box whose first answer does not end by itself."""
    async with living(Household(tmp_path)) as box:
        box.model.hold[0] = asyncio.Event()
        yield box


async def begun(runs: Observer) -> str:
    """Return the id of the event whose run begins next."""
    return (await anext(aiter(runs))).parent_id


async def test_ctrl_c_ends_the_answer_and_the_next_question_is_answered_at_once(box: Living, tmp_path: Path) -> None:
    runs = box.box.household.bus.observe("runs.new")
    asking = await started(tmp_path, "--config", tmp_path / "nakari.toml", "ask", LONG)
    await begun(runs)
    asking.send_signal(signal.SIGINT)
    assert await asking.communicate() == (b"", b"")
    assert asking.returncode == INTERRUPTED
    box.model.hold.clear()  # it may have been stopped before the model was asked
    assert await box.asked("hello") == ANSWER


async def test_a_program_that_is_gone_stops_nothing(box: Living, tmp_path: Path) -> None:
    runs = box.box.household.bus.observe("runs.new")
    asking = await started(tmp_path, "--config", tmp_path / "nakari.toml", "ask", LONG)
    event_id = await begun(runs)
    asking.kill()
    await asking.communicate()
    box.model.hold[0].set()
    await box.box.household.mailbox.until_idle()
    filed = await box.box.household.mailbox.find(event_id)
    assert filed is not None
    assert (filed.state, "interrupted" in filed.summary) == ("completed", False)


async def test_ctrl_c_in_a_conversation_ends_the_answer_and_the_next_line_is_answered(
    box: Living, tmp_path: Path
) -> None:
    runs = box.box.household.bus.observe("runs.new")
    terminal = Terminal([*COMMAND, str(tmp_path / "nakari.toml"), "chat"], environment(tmp_path))
    await to_thread(terminal.until, "> ")
    terminal.type(f"{LONG}\n")
    await begun(runs)
    terminal.type("\x03")
    await to_thread(terminal.until, "> ")
    box.model.hold.clear()
    terminal.type("hello\n")
    await to_thread(terminal.until, ANSWER)
    await to_thread(terminal.until, "> ")
    terminal.type("\x04")
    assert (await to_thread(terminal.ended))[1] == 0


async def test_who_waits_behind_another_answer_is_told_so_and_ctrl_c_drops_the_question(
    box: Living, tmp_path: Path
) -> None:
    async with asyncio.TaskGroup() as group:
        runs = box.box.household.bus.observe("runs.new")
        first = group.create_task(box.asked(LONG))
        await begun(runs)
        command = [*COMMAND, str(tmp_path / "nakari.toml"), "ask", "hello"]
        terminal = Terminal(command, environment(tmp_path))
        await to_thread(terminal.until, "it is still answering something else; `nakari stop` ends that")
        assert (await to_thread(terminal.interrupted))[1] == INTERRUPTED
        box.model.hold[0].set()
        assert await first == ANSWER, "another's answer goes on"
    [withdrawn] = await box.box.household.mailbox.listed("withdrawn", 2)
    assert (withdrawn.event.content, withdrawn.reason) == ("hello", "stopped by whoever asked")
    assert len(box.model.requests) == 1


async def test_a_script_that_waits_behind_another_answer_is_told_so_beside_its_answer(
    box: Living, tmp_path: Path
) -> None:
    async with asyncio.TaskGroup() as group:
        runs = box.box.household.bus.observe("runs.new")
        first = group.create_task(box.asked(LONG))
        await begun(runs)
        command = [*COMMAND, str(tmp_path / "nakari.toml"), "ask", "hello"]
        pipe = asyncio.subprocess.PIPE
        script = await asyncio.create_subprocess_exec(*command, env=environment(tmp_path), stdout=pipe, stderr=pipe)
        assert script.stderr is not None
        assert b"your question is in line: it is still answering something else" in await script.stderr.readline()
        box.model.hold[0].set()
        box.model.hold.clear()
        assert await first == ANSWER
        assert (await script.communicate())[0].decode().strip() == ANSWER


async def test_nobody_stops_or_reads_what_another_asked(box: Living) -> None:
    visitor, _ = new_key()
    question = Question(LONG)
    async with asyncio.TaskGroup() as group:
        runs = box.box.household.bus.observe("runs.new")
        asking = group.create_task(all_of(box, question))
        assert await begun(runs) == question.id
        with pytest.raises(Problem, match="there is no event") as refused:
            await tell(box.config.socket, {"do": "ask.stop", "id": question.id}, key=visitor)
        assert refused.value.code == Exit.NO_INPUT
        with pytest.raises(Problem, match="choose another id"):
            await anext(answer_to(box.config.socket, question, visitor))
        box.model.hold[0].set()
        assert await asking == ANSWER


async def all_of(box: Living, question: Question) -> str:
    """Return the whole answer."""
    return "".join([str(piece) async for piece in answer_to(box.config.socket, question)]).strip()
