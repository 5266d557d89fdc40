"""Forgetting in the whole box: no string in memory holds the words any more, nor does anything on disk."""

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from audio.speech import RecognizedTurn, Utterance
from tests.room.house import House, Surroundings, live
from tests.room.virtual_time import passed
from tests.room.voices import says

pytestmark = pytest.mark.room

SAID = "Remember that my keys are in the drawer."
AT_ONCE = 10_000
"""Objects whose references are looked at in one call; one by one takes many times as long."""

ANSWER = "They are with the xylophone."


def strings() -> Iterator[str]:
    """Yield every string that something in memory refers to."""
    objects = gc.get_objects()
    for at in range(0, len(objects), AT_ONCE):
        for told in gc.get_referents(*objects[at : at + AT_ONCE]):
            if type(told) is str:
                yield told


def secrets() -> dict[int, str]:
    """Return the strings in memory that hold what was said or answered, by id."""
    gc.unfreeze()  # what was there before the first test may hold them too (tests/conftest.py)
    gc.collect()
    return {id(told): told for told in strings() if "in the drawer" in told or "with the xylophone" in told}


def sounds() -> list[Utterance | RecognizedTurn]:
    """Return every turn's sound in memory."""
    return [each for each in gc.get_objects() if isinstance(each, Utterance | RecognizedTurn)]


@pytest.mark.shows("V29")
def test_what_was_heard_and_answered_is_nowhere_in_memory_nor_on_disk(tmp_path: Path) -> None:
    async def story(house: House) -> None:
        await passed(4.0)
        the_test_s_own = secrets()
        of_other_tests = sounds()
        others = {id(each) for each in of_other_tests}
        house.put(says(SAID), -26)
        await house.wait(lambda: house.turns.taken_up)
        await house.silence()
        await passed(1.0)
        assert house.turns.taken_up == [SAID]
        assert secrets().keys() - the_test_s_own.keys(), "some of other tests may have gone meanwhile"
        assert await house.box.input.forget() == "Forgotten: “Remember that my keys are in …”."
        house.forget()
        left = [told for place, told in secrets().items() if place not in the_test_s_own]
        assert left == []
        assert [each for each in sounds() if id(each) not in others] == [], "nor its sound"

    live(tmp_path, story, Surroundings(answers=(ANSWER,), settings={"log": {"words": False}}))
    assert [file for file in tmp_path.rglob("*") if file.is_file() and b"xylophone" in file.read_bytes()] == []
