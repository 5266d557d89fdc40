"""Envelopes and entries as facts, one by one."""

from datetime import UTC, datetime

import pytest
from msgspec.structs import asdict, replace

from agent.event import ASR_TRANSCRIPT, HOUSEHOLD, TIMER, Event
from agent.model.stream.relay import MOST_OF_AN_ANSWER
from agent.record import COMMAND, entry_of, step
from agent.replies import INTERRUPTED, SENTENCE_STARTED
from agent.turns.stages import TURN_ENDED
from appliance.input.suppressed import EARS_SUPPRESSED
from appliance.live.live import packet_of
from appliance.live.messages import MESSAGES
from appliance.live.steps import MOST_ARGUMENTS, MOST_CALLS, MOST_TEXT, Fact, Step, Steps
from appliance.output.text import WRITTEN
from appliance.reflexes.forget import FORGOTTEN
from appliance.reflexes.record import REFLEX
from appliance.timers.due import ENDED, RANG, STOPPED
from memory.state.journal import Stored

SPOKEN = Event(ASR_TRANSCRIPT, "what is the time", id="e1", source="mic")


def facts(*events: Event, steps: Steps | None = None) -> list[Fact]:
    """Return what envelopes tell; each can be said, and is the same out of the journal."""
    told, again = steps or Steps(), Steps()
    found: list[Fact] = []
    for seq, event in enumerate(events, 1):
        fresh = [*told.take(Step.published(event, seq))]
        entry = entry_of(event)
        kept = Stored(**asdict(entry), seq=seq)
        if event.type != ASR_TRANSCRIPT and steps is None:
            assert [*again.take(Step.stored(kept))] == fresh
        for fact in fresh:
            MESSAGES[fact.name].model_validate_json(packet_of(fact).json)
        found += fresh
    return found


def ui(name: str, run_id: str = "r1", **body: object) -> Event:
    return step("ui.events", SPOKEN, run_id, {"event": name, **body})  # type: ignore[dict-item]


def begun(run_id: str = "r1") -> Event:
    return step("runs.new", SPOKEN, run_id, {"source": "mic", "content": "", "parent_id": "e0"}, SPOKEN.content)


def _named(fact: Fact) -> tuple[str, dict[str, object]]:
    return fact.name, dict(fact.payload)


@pytest.mark.shows("F20", "F22")
@pytest.mark.parametrize("heard", [None, "It is"])
def test_what_a_person_stopped_is_told_as_cut_off_once(heard: str | None) -> None:
    """Of a written answer no account of hearing comes: what was written is what was read."""
    account = [step(INTERRUPTED, SPOKEN, "r1", {"heard": heard, "unsaid": "noon."})] if heard else []
    stop = step(COMMAND, SPOKEN, "r1", {"command": "stop", "reason": "interrupted"})
    chunk = ui("text_chunk", call_id="c", chunk="It is noon. ")
    told = facts(begun(), chunk, *account, stop, ui("run_finished", status="COMPLETED"))
    assert [*map(_named, facts(begun(), chunk, stop, *account, ui("run_finished", status="COMPLETED")))] == [
        *map(_named, told)
    ]
    cut = [dict(fact.payload) for fact in told if fact.name == "interrupted"]
    assert cut == [{"event_id": "e1", "heard": heard or "It is noon.", "unsaid": "noon." if heard else ""}]
    assert told[-1].name == "run_finished"


@pytest.mark.shows("F20", "F22")
def test_a_step_of_each_kind_is_told_with_what_it_has() -> None:
    told = facts(
        SPOKEN,
        begun(),
        step(SENTENCE_STARTED, SPOKEN, "", {"call_id": "c", "number": 1}, "It is noon."),
        step(INTERRUPTED, SPOKEN, "r1", {"heard": "It is", "unsaid": "noon."}),
        Event(EARS_SUPPRESSED, source="mic", metadata={"reason": "own words", "text_spoken": "noon"}),
        Event(REFLEX, "be quiet", source="system", metadata={"reflex": "stop", "did": "stopped"}),
        step(TURN_ENDED, SPOKEN, "r1", {"stages": {"text": 0.3}}),
        Event(FORGOTTEN, metadata={"event_ids": ["e1"], "since": "2026-01-01T00:00:00+00:00", "events": 1}),
        Event(FORGOTTEN, metadata={"events": 1}),
    )
    assert [(fact.name, dict(fact.payload)) for fact in told] == [
        ("heard", {"text": "what is the time", "session": "room", "event_id": "e1"}),
        (
            "run_started",
            {"event_id": "e1", "session": "room", "source": "mic", "content": SPOKEN.content, "parent_id": "e0"},
        ),
        ("sentence", {"event_id": "e1", "call_id": "c", "text": "It is noon."}),
        ("interrupted", {"event_id": "e1", "heard": "It is", "unsaid": "noon."}),
        ("heard", {"text": "noon", "session": "room", "held_back": "own words"}),
        ("heard", {"text": "be quiet", "session": "room", "held_back": "reflex: stopped"}),
        ("turn", {"event_id": "e1", "stages": {"text": 0.3}}),
        ("forgotten", {"event_ids": ["e1"], "since": "2026-01-01T00:00:00+00:00"}),
        ("forgotten", {"event_ids": [], "since": None}),
    ]
    assert {fact.owner_key for fact in told} == {HOUSEHOLD}
    assert [fact.run_id for fact in told[:4]] == [None, "r1", "r1", "r1"]


def test_a_timer_rings_and_ends_however_it_does() -> None:
    timer = Event(TIMER, id="t1", not_before=datetime(2026, 1, 1, tzinfo=UTC))
    body = {"label": "tea", "due": "2026-01-01T00:00:00+00:00"}
    told = facts(*(step(topic, timer, "", body) for topic in (RANG, STOPPED, ENDED)))
    assert [(fact.name, fact.payload["id"], fact.payload["state"]) for fact in told] == [
        ("timer", "t1", "rings"),
        ("timer", "t1", "ended"),
        ("timer", "t1", "ended"),
    ]


@pytest.mark.shows("F22")
def test_every_run_that_starts_finishes_once_and_none_that_did_not_start() -> None:
    told = facts(
        ui("run_finished", "put off", status="SUSPENDED"),
        begun("one"),
        ui("run_broken_off", "one"),
        ui("run_finished", "one", status="COMPLETED"),
        begun("two"),
        begun("three"),
        ui("run_finished", "three", status="SUSPENDED"),
    )
    assert [(fact.name, fact.run_id, fact.payload.get("status")) for fact in told] == [
        ("run_started", "one", None),
        ("run_finished", "one", "FAILED"),
        ("run_started", "two", None),
        ("run_finished", "two", "FAILED"),
        ("run_started", "three", None),
        ("run_finished", "three", "SUSPENDED"),
    ]


def test_an_answer_in_writing_is_told_whole_whether_or_not_its_chunks_are_there() -> None:
    chunk, written = (
        ui("text_chunk", call_id="c", chunk="It is noon. "),
        step(WRITTEN, SPOKEN, "", {"call_id": "c"}, "It is noon."),
    )
    stop = step(COMMAND, SPOKEN, "r1", {"command": "stop", "reason": "interrupted"})
    for chunks in ([chunk], []):
        told = facts(begun(), *chunks, written, stop, ui("run_finished", status="COMPLETED"))
        whole, cut, _ = told[-3:]
        assert (whole.name, whole.run_id) == ("reply_written", "r1")
        assert whole.payload == {"event_id": "e1", "call_id": "c", "text": "It is noon."}
        assert cut.payload == {"event_id": "e1", "heard": "It is noon.", "unsaid": ""}


def test_a_long_answer_is_told_whole_when_it_is_read_again() -> None:
    answer = "A word or two. " * (MOST_OF_AN_ANSWER // 15)
    assert len(answer) > MOST_TEXT
    *_, written = facts(begun(), step(WRITTEN, SPOKEN, "", {"call_id": "c"}, answer))
    assert written.payload["text"] == answer


def test_a_long_question_is_told_whole() -> None:
    question = "A word or two. " * (MOST_TEXT // 15 + 1)
    started = step("runs.new", SPOKEN, "r1", {"source": "api"}, question)
    heard, told = facts(replace(SPOKEN, content=question), started)
    assert heard.payload["text"] == told.payload["content"] == question


def test_what_is_kept_of_a_run_is_bounded() -> None:
    steps = Steps()
    long = [ui("text_chunk", call_id="c", chunk="x" * 1000) for _ in range(MOST_TEXT // 1000 + 5)]
    many = [ui("tool_call_started", call_id=f"c{n}", tool_name="look", args="{}") for n in range(MOST_CALLS + 5)]
    facts(begun(), *long, ui("text_chunk", call_id="d", chunk="the end"), *many, steps=steps)
    assert steps.run is not None
    assert (len(steps.run.text), len(steps.run.calls)) == (MOST_TEXT, MOST_CALLS)
    assert steps.run.text.endswith("x\nthe end"), "two replies are two lines"


@pytest.mark.parametrize(
    ("args", "shown"),
    [('{"a": 1}', {"a": 1}), ("", {}), ('{"a', '{"a'), ("[" * 100_000, "[" * MOST_ARGUMENTS)],
)
def test_arguments_are_shown_as_what_they_are_or_as_they_were_written(args: str, shown: object) -> None:
    (fact,) = facts(ui("tool_call_started", call_id="c", tool_name="look", args=args))
    args_shown = fact.payload["args"]
    assert (args_shown[: len(shown)] if isinstance(args_shown, str) and isinstance(shown, str) else args_shown) == shown
    assert len(str(args_shown)) < MOST_ARGUMENTS + 100


def test_every_message_has_its_name() -> None:
    assert {"snapshot", "run_started", "text_chunk", "lost", "turn", "answer", "speech_ended"} <= {*MESSAGES}
    assert len(MESSAGES) == 23
