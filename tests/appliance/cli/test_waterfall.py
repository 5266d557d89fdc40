"""Where the time of a turn went, from the marks that its envelopes carry."""

import pytest

from agent.event import Event
from agent.record import step
from appliance.cli.demo import Waterfall
from appliance.output.voice import FIRST_SOUND
from memory.json_value import Json

TURN = Event(
    type="asr_transcript", id="turn", metadata={"timing": {"speech_ended": 10.0, "committed": 10.7, "text": 10.9}}
)


def a_turn() -> Waterfall:
    waterfall = Waterfall("turn")
    waterfall.begin(TURN)
    return waterfall


@pytest.mark.shows("V25")
def test_each_stage_since_speech_ended_and_since_the_one_before() -> None:
    waterfall = a_turn()
    waterfall.take(step("llm.results", TURN, "r", {"first_token_at": 11.4}))
    waterfall.take(step(FIRST_SOUND, TURN, "", {"at": 11.5}))
    waterfall.take(step(FIRST_SOUND, TURN, "", {"at": 13.0}))
    assert [(stage, round(at, 3), round(since, 3)) for stage, at, since in waterfall.rows] == [
        ("speech ended", 0.0, 0.0),
        ("committed", 0.7, 0.7),
        ("text", 0.9, 0.2),
        ("first token", 1.4, 0.5),
        ("first sound", 1.5, 0.1),
    ]


def test_a_text_that_was_there_before_the_end_of_the_turn_stands_before_it() -> None:
    waterfall = Waterfall("turn")
    early: dict[str, Json] = {"speech_ended": 10.0, "text": 10.4, "committed": 10.5}
    waterfall.begin(Event(type="asr_transcript", id="turn", metadata={"timing": early}))
    assert [(stage, round(since, 3)) for stage, _, since in waterfall.rows] == [
        ("speech ended", 0.0),
        ("text", 0.4),
        ("committed", 0.1),
    ]


def test_marks_of_other_turns_and_of_no_number_are_passed_over() -> None:
    waterfall = a_turn()
    waterfall.take(step(FIRST_SOUND, Event(type="x"), "", {"at": 11.5}))
    waterfall.take(step(FIRST_SOUND, TURN, "", {"at": "soon"}))
    assert [stage for stage, _, _ in waterfall.rows] == ["speech ended", "committed", "text"]


def test_a_typed_turn_has_no_marks_of_the_ears() -> None:
    waterfall = Waterfall("typed")
    waterfall.begin(Event(type="user_text", id="typed"))
    assert waterfall.rows == []
