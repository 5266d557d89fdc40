"""A kill between what somebody says in a room and the answer: it is told in that room, once, and nowhere else."""

import os
import signal
from pathlib import Path

import pytest

from agent.model.messages import Message
from tests.appliance.rooms.home import Home, live
from tests.fakes import ScriptedModel, calls
from tests.room.virtual_time import passed

ANSWER = calls(("reply", '{"text": "At ten past nine. From platform two."}'))


def dies(messages: object) -> Message:
    """Be asked, and never answer."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def died_while_thinking(folder: Path) -> bool:
    """Ask in the kitchen, in a process of its own that is killed once the words are filed and before the answer."""

    async def story(home: Home) -> None:
        await home.kitchen.hears("when does the train leave")
        await home.over()

    if (child := os.fork()) == 0:
        try:
            live(folder, story, [ScriptedModel(dies)])
        finally:
            os._exit(1)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


@pytest.mark.shows("V28")
def test_after_a_kill_the_answer_waits_for_its_room(tmp_path: Path) -> None:
    assert died_while_thinking(tmp_path)

    async def story(home: Home) -> tuple[list[str], list[str], list[str]]:
        home.kitchen.is_there = False  # devices are dialled anew, which takes longer than a model
        await home.over()
        await passed(30.0)
        before = home.kitchen.heard + home.study.heard + home.own.heard
        home.kitchen.is_there = True
        await passed(60.0)
        return before, home.kitchen.heard, home.study.heard + home.own.heard

    before, there, elsewhere = live(tmp_path, story, [ScriptedModel(ANSWER)])
    assert before == []
    assert (there, elsewhere) == (["At ten past nine.", "From platform two."], [])


@pytest.mark.shows("V28")
def test_after_a_kill_a_room_that_is_back_is_answered_at_once(tmp_path: Path) -> None:
    assert died_while_thinking(tmp_path)

    async def story(home: Home) -> tuple[list[str], list[str]]:
        await home.over()
        await passed(60.0)
        return home.kitchen.heard, home.study.heard + home.own.heard

    said = ["At ten past nine.", "From platform two."]
    assert live(tmp_path, story, [ScriptedModel(ANSWER)]) == (said, [])
