"""Where the time of turns went, what is usual, and why one was slow."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.turns.waterfall import STEPS, Turn, percentile, slowest, usual, why_slow
from memory.json_value import Json

pytestmark = pytest.mark.shows("V25")

SPOKEN = {
    "speech_started": -1.5,
    "speech_ended": 0.0,
    "text": 0.4,
    "committed": 0.5,
    "filed": 0.51,
    "taken": 0.52,
    "context": 0.53,
    "asked": 0.54,
    "first_token": 1.0,
    "first_sentence": 1.2,
    "synthesized": 1.4,
    "first_sound": 1.45,
    "done": 4.0,
}


def a_turn(
    stages: dict[str, float] | None = None,
    *,
    seq: int = 0,
    kind: str = "spoken",
    tools: Json = (),  # type: ignore[assignment]
    models: Json = None,
    **later: float,
) -> Turn:
    """A turn like `SPOKEN`; `later` moves a stage, and all behind it, by so many seconds."""
    reached = dict(stages or SPOKEN)
    for stage, seconds in later.items():
        at = reached[stage]
        reached = {name: when + seconds if when >= at else when for name, when in reached.items()}
    asked: Json = [{"model": "small", "asked": reached.get("asked"), "first_token": reached.get("first_token")}]
    body: dict[str, Json] = {
        "kind": kind, "status": "COMPLETED", "stages": {**reached}, "models": models or asked, "tools": tools,
    }  # fmt: skip
    return Turn(seq, f"event{seq}", f"run{seq}", body)


def test_the_steps_follow_each_other_and_add_up_to_the_answer() -> None:
    turn = a_turn()
    assert {name: round(seconds, 3) for name, seconds in turn.steps.items()} == {
        "endpointing": 0.5,
        "recognition": 0.0,
        "filing": 0.01,
        "queue": 0.01,
        "context": 0.01,
        "asking": 0.01,
        "model": 0.46,
        "tools": 0.0,
        "writing": 0.2,
        "synthesis": 0.2,
        "playback": 0.05,
    }
    assert turn.answered_at == 1.45
    assert sum(turn.steps.values()) == pytest.approx(1.45)


def test_what_tools_took_before_the_first_words_is_theirs_and_not_the_models() -> None:
    models: Json = [
        {"model": "small", "asked": 0.54, "first_token": 1.0, "ended": 1.1},
        {"model": "small", "asked": 3.2, "first_token": 3.4, "ended": 4.0},
    ]
    tools: Json = [{"tool": "web_search", "began": 1.1, "ended": 3.1}, {"tool": "weather", "began": 1.1, "ended": 2.0}]
    turn = a_turn(first_sentence=2.4, tools=tools, models=models)
    assert turn.steps["tools"] == pytest.approx(2.0)
    assert turn.steps["model"] == pytest.approx(0.46 + 0.2)
    assert turn.slowest_call("tools") == "web_search"
    assert sum(turn.steps.values()) == pytest.approx(turn.answered_at or 0.0)


@given(st.lists(st.floats(0, 5), min_size=12, max_size=12), st.lists(st.tuples(st.floats(0, 9), st.floats(0, 9))))
def test_whatever_the_marks_the_steps_add_up(gaps: list[float], tools: list[tuple[float, float]]) -> None:
    names = [name for name in SPOKEN if name != "speech_started"]
    at, stages = 0.0, {}
    for name, gap in zip(names, [0.0, *gaps], strict=False):
        at += gap
        stages[name] = at
    used: Json = [{"tool": "t", "began": min(span), "ended": max(span)} for span in tools]
    turn = a_turn(stages, tools=used)
    assert all(seconds >= 0 for seconds in turn.steps.values())
    assert set(turn.steps) == set(STEPS)
    if not tools:
        assert sum(turn.steps.values()) == pytest.approx(turn.answered_at)


@given(st.lists(st.floats(0, 100), min_size=1), st.floats(0.01, 1))
def test_a_percentile_is_one_of_the_values_and_enough_do_not_exceed_it(values: list[float], share: float) -> None:
    found = percentile(values, share)
    assert found in values
    assert sum(value <= found for value in values) >= share * len(values) - 1e-9


def test_what_is_usual_leaves_out_what_was_not_answered_or_superseded() -> None:
    silent = a_turn({"speech_ended": 0.0, "filed": 0.5, "taken": 0.6, "done": 9.0})
    told = usual([a_turn(), a_turn(first_token=1.0), silent])
    assert told["answer"] == {"p50": 1.45, "p95": 2.45}
    assert told["model"] == {"p50": 0.46, "p95": 1.46}
    assert usual([silent]) == {}


def test_a_recording_taken_faster_than_it_was_spoken_tells_of_no_time() -> None:
    fast = a_turn({name: at - 60.0 if at else at for name, at in SPOKEN.items()})
    assert usual([fast]) == {}
    assert why_slow(fast, BEFORE).startswith("It came from a recording that was taken faster than it was spoken")


def moved(stage: str, seconds: float) -> Turn:
    """A turn in which a stage, and all behind it, came so much later."""
    at = SPOKEN[stage]
    return a_turn({name: when + seconds if when >= at else when for name, when in SPOKEN.items()}, seq=99)


BEFORE = [a_turn(seq=number) for number in range(1, 11)]


@pytest.mark.parametrize(
    ("stage", "step", "named"),
    [
        ("first_token", "model", "the model small before its first word"),
        ("taken", "queue", "it waited behind other work"),
        ("committed", "endpointing", "waiting to hear whether you had finished"),
        ("synthesized", "synthesis", "making the voice"),
    ],
)
def test_the_stage_that_took_longer_than_usual_is_named(stage: str, step: str, named: str) -> None:
    turn = moved(stage, 3.0)
    assert slowest(turn, BEFORE) == step
    told = why_slow(turn, BEFORE)
    assert named in told
    assert told.startswith("It took 4.5 seconds until the answer began, usually 1.4 seconds.") or "1.5" in told
    assert "usually" in told


def test_a_tool_that_took_long_is_named_in_both_languages() -> None:
    tools: Json = [{"tool": "web_search", "began": 0.6, "ended": 5.6}]
    turn = a_turn(seq=99, first_sentence=5.0, tools=tools)
    assert "the tool web_search: 5.0 seconds, usually 0.0 seconds" in why_slow(turn, BEFORE)
    assert "慢在工具web_search：5.0秒" in why_slow(turn, BEFORE, "zh")


def test_one_that_was_as_usual_is_called_so() -> None:
    assert why_slow(a_turn(seq=99), BEFORE).startswith("It was not slower than usual")
    assert why_slow(a_turn(seq=99), BEFORE, "zh").startswith("并不比平时慢")


def test_where_nothing_is_usual_yet_the_longest_part_is_named() -> None:
    assert "The longest part was the model small" in why_slow(a_turn(first_token=2.0), [])
    assert why_slow(None, []) == "There is no answer yet whose time I know."


def test_written_turns_are_compared_with_written_ones() -> None:
    written = {"received": 0.0, "filed": 0.1, "taken": 0.1, "context": 0.2, "asked": 0.2, "first_token": 9.0,
               "first_text": 9.0, "done": 9.5}  # fmt: skip
    turn = a_turn(written, seq=99, kind="written")
    assert "The longest part was the model" in why_slow(turn, BEFORE)
