"""In the simulated room a door opens on a person's yes, and on nobody else's."""

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from agent.event import SYSTEM, Event
from agent.replies import Reply
from tests.room.acoustics import Sound
from tests.room.house import House, Surroundings, live
from tests.room.virtual_time import passed
from tests.room.voices import says

pytestmark = pytest.mark.room

DOOR = '''
"""A door that writes down that it was opened."""

from pathlib import Path

from agent.tools.tool import tool


async def asks(arguments):
    return "unlock the front door"


@tool(asks_first=asks)
async def unlock() -> str:
    """Unlock the front door."""
    with Path("{opened}").open("a") as opened:
        opened.write("opened\\n")
    return "unlocked"
'''

QUESTION = ["I am about to unlock the front door.", "Shall I?"]


NEAR, FAR = -30.0, -42.0
"""Levels in dBFS at the microphone: of whoever orders, and of a television across the room."""

Answer = Callable[[House], Coroutine[Any, Any, None]]


def told(folder: Path, answer: Answer) -> tuple[list[str], int]:
    """Return what was said, and how often the door was opened, when the question is answered so."""
    opened, tools = folder / "opened", folder / "own_tools"
    tools.mkdir()
    (tools / "door.py").write_text(DOOR.format(opened=opened))

    async def story(house: House) -> list[str]:
        house.put(says("What time is it?"), NEAR, after=1.0)  # whatever is said, the door is what it hears of
        await house.wait(lambda: QUESTION[1] in house.voice.sentences)
        await answer(house)
        await house.silence()
        return house.voice.sentences

    around = Surroundings({"tools": {"folder": str(tools)}}, answers=("It is open.",), acts="unlock")
    said = live(folder, story, around)
    return said, len(opened.read_text().splitlines()) if opened.exists() else 0


def once_asked(*sounds: tuple[Sound, float]) -> Answer:
    """Answer each question half a second after it was heard, in turn, by a sound at a level."""

    async def answer(house: House) -> None:
        for sound, dbfs in sounds:
            await house.silence()
            ended = house.put(sound, dbfs, after=0.5)
            await passed(ended - house.now + 2.0)

    return answer


@pytest.mark.shows("G1", "X12")
def test_a_yes_after_the_question_opens_the_door(tmp_path: Path) -> None:
    said, opened = told(tmp_path, once_asked((says("Yes."), NEAR)))
    assert said == [*QUESTION, "It is open."]
    assert opened == 1


def test_a_yes_from_across_the_room_is_asked_for_again_and_opens_nothing(tmp_path: Path) -> None:
    """As a television's: it is asked once more, and the second one of the kind ends it."""
    yes = (says("Yes.", "rms"), FAR)
    said, opened = told(tmp_path, once_asked(yes, yes))
    assert said[:4] == [*QUESTION, f"To be sure: {QUESTION[0]}", QUESTION[1]]
    assert said[4].startswith("I could not be sure of that yes.")
    assert opened == 0


def test_a_yes_while_the_question_is_asked_opens_nothing(tmp_path: Path) -> None:
    async def over(house: House) -> None:
        ended = house.put(says("Yes."), NEAR)
        await passed(ended - house.now + 2.0)

    _, opened = told(tmp_path, over)
    assert opened == 0


def test_its_own_voice_that_says_yes_opens_nothing(tmp_path: Path) -> None:
    async def itself(house: House) -> None:
        await house.silence()
        await house.box.output.voice.open(Reply(Event(SYSTEM), "own")).feed("Yes. Yes, please. ")
        await passed(4.0)

    said, opened = told(tmp_path, itself)
    assert "Yes." in said
    assert opened == 0


def test_a_no_leaves_it_closed(tmp_path: Path) -> None:
    said, opened = told(tmp_path, once_asked((says("No."), NEAR)))
    assert said == [*QUESTION, "All right, I will not unlock the front door."]
    assert opened == 0
