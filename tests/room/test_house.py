"""The whole box lives in the simulated room: it hears, thinks, answers aloud, and is not disturbed by its own voice."""

from pathlib import Path

import pytest

from tests.room.house import House, Surroundings, live
from tests.room.voices import says

pytestmark = pytest.mark.room


@pytest.mark.shows("V21", "F1")
def test_a_question_asked_in_the_room_is_answered_in_the_room(tmp_path: Path) -> None:
    async def ask(house: House) -> float:
        ended = house.put(says("What time is it?"), -30, after=1.0)
        await house.wait(lambda: house.card.played)
        await house.silence()
        return house.card.played[0][0] - ended

    async def story(house: House) -> tuple[float, list[str], list[str]]:
        return await ask(house), house.turns.taken_up, house.voice.sentences

    reply = "It is half past nine. I think you should get up now."
    seconds, heard, said = live(tmp_path, story, Surroundings(answers=(reply,)))
    assert heard == ["What time is it?"]
    assert said == ["It is half past nine.", "I think you should get up now."]
    assert 0.3 < seconds < 2.0
