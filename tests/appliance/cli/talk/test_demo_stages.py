"""Where the time of the demo's turn went, as it is printed."""

import pytest

from agent.turns.waterfall import Turn
from appliance.cli.talk.demo import Demo, report, stages_of
from memory.json_value import Json


@pytest.mark.shows("V25")
def test_each_stage_since_the_end_of_speech_and_since_the_one_before() -> None:
    stages: dict[str, Json] = {"speech_ended": 0.0, "text": 0.4, "committed": 0.7, "first_sound": 1.5}
    lines = stages_of(Turn(1, "e", "r", {"kind": "spoken", "stages": stages}))
    assert [line.split() for line in lines] == [
        ["0.000", "s", "speech", "ended", "(+0.000)"],
        ["0.400", "s", "text", "(+0.400)"],
        ["0.700", "s", "committed", "(+0.300)"],
        ["1.500", "s", "first", "sound", "(+0.800)"],
    ]


@pytest.mark.shows("V25")
def test_a_demo_that_takes_too_long_says_so_and_what_it_had_until_then() -> None:
    lines = report(Demo("what day is it today", "pocketsphinx", is_given_up=True), None)
    assert "heard     what day is it today   [pocketsphinx]" in lines
    assert "answered  (nothing)" in lines
    assert lines[-1] == "given up after 300 s: this machine is too busy, or too slow for pocketsphinx"
