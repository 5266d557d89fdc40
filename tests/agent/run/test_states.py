"""The states of a run: which may follow which, read off the journal, and each run reaches an end."""

import asyncio
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Final, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.event import SELF_CREATED, Event
from agent.mailbox import Lease
from agent.model.messages import Message
from agent.run.budget import Budget, RunLimits
from agent.run.run import ENDS, LEGAL, Run, Status
from agent.tools.tool import tool
from memory.json_value import Json
from memory.state.journal import Entry
from tests.agent.mind import EachStep, Start, TestMind, a_mind, spoken
from tests.fakes import ScriptedModel, UnreachableModel, calls

HELLO = ("reply", '{"text": "Hello there."}')
ALL: tuple[Status, ...] = get_args(Status)


_ENTERED_BY: Final[Mapping[str, Status]] = {
    "runs.new": "PENDING",
    "context.build.request": "BUILDING_CONTEXT",
    "llm.requests": "AWAITING_LLM_DECISION",
    "tools.requests": "AWAITING_TOOL_RESULT",
}


def states(entries: Iterable[Entry]) -> list[Status]:
    """Return the states one run went through, from its journal entries in order; each stands once until it changes.

    Raises RuntimeError when the journal tells of a run that cannot be.
    """
    found: list[Status] = []
    for entry in entries:
        entered = _ENTERED_BY.get(entry.topic) or _end(entry)
        if entered is None or (found and found[-1] == entered):
            continue
        if found:
            Run(Lease(Event(type="x")), Budget(1), status=found[-1]).move(entered)
        found.append(entered)
    return found


def _end(entry: Entry) -> Status | None:
    if entry.topic != "ui.events" or entry.body.get("event") != "run_finished":
        return None
    return next((status for status in get_args(Status) if status == entry.body.get("status")), None)


async def states_of(mind: TestMind, event: Event) -> list[list[Status]]:
    """Return what each run of an event went through, as the journal tells it."""
    entries = await mind.journal.entries(event_id=event.id)
    runs = dict.fromkeys(entry.run_id for entry in entries if entry.run_id)
    return [states(entry for entry in entries if entry.run_id == run) for run in runs]


@pytest.mark.shows("B17", "B18", "B19", "B20", "B21", "B22", "B23")
@given(st.sampled_from(ALL), st.sampled_from(ALL))
def test_only_legal_transitions_are_made(before: Status, after: Status) -> None:
    run = Run(Lease(Event(type="x")), Budget(1), status=before)
    if after in LEGAL[before]:
        run.move(after)
        assert run.status == after
    else:
        with pytest.raises(RuntimeError, match=f"{before} cannot become {after}"):
            run.move(after)
        assert run.status == before


@pytest.mark.shows("B17", "B18", "B19", "B20", "B21", "B22", "B23")
def test_every_state_is_reached_and_every_end_is_one() -> None:
    reached = {"PENDING"}
    for _ in ALL:
        reached |= {after for before in reached for after in LEGAL[before]}  # type: ignore[index]
    assert reached == set(ALL) == set(LEGAL)
    assert {status for status in ALL if not LEGAL[status]} == ENDS


def test_a_journal_that_tells_of_an_impossible_run_is_refused() -> None:
    with pytest.raises(RuntimeError, match="cannot become"):
        states([Entry("runs.new"), Entry("tools.requests")])


@pytest.mark.shows("B17", "B18", "B19", "B20", "B21", "B24")
@pytest.mark.parametrize(
    ("script", "ending"),
    [
        ([calls(("check_mailbox", "{}"), prefix="a"), calls(HELLO)], "COMPLETED"),
        ([calls(("suspend_event", '{"note": "later", "wake_on": "x"}'))], "SUSPENDED"),
        ([Message("assistant"), calls(HELLO)], "COMPLETED"),
    ],
)
async def test_the_journal_tells_the_states_of_a_run(tmp_path: Path, script: list[Message], ending: Status) -> None:
    seen: list[Status] = []
    event = spoken("hello")
    async with a_mind(tmp_path, [ScriptedModel(*script)]) as mind:

        def note() -> None:
            if mind.loop.run_in_hand is not None:
                seen.append(mind.loop.run_in_hand.status)

        mind.loop.observe(EachStep(note))
        await mind.handle(event)
        told = (await states_of(mind, event))[0]
        assert mind.loop.run_in_hand is None
    assert told[:3] == ["PENDING", "BUILDING_CONTEXT", "AWAITING_LLM_DECISION"]
    assert told[-1] == ending
    assert all(after in LEGAL[before] for before, after in pairwise(told))
    assert seen, "the heart beats at each step"


@pytest.mark.shows("B22")
async def test_a_bug_ends_in_failed(tmp_path: Path) -> None:
    def bug(messages: object) -> Message:
        raise ZeroDivisionError("a bug")

    event = spoken("trip")
    async with a_mind(tmp_path, [ScriptedModel(bug)]) as mind:
        await mind.handle(event)
        assert [run[-1] for run in await states_of(mind, event)] == ["FAILED"]


@pytest.mark.shows("B23", "B9")
@pytest.mark.parametrize("hangs_in", ["the model", "a tool"])
@pytest.mark.parametrize("is_person", [True, False])
async def test_a_run_that_takes_too_long_ends_in_timed_out_and_is_told(
    tmp_path: Path, hangs_in: str, is_person: bool
) -> None:
    async def hang() -> Json:
        """Hang."""
        await asyncio.Event().wait()
        return None

    model = ScriptedModel(calls(("hang", "{}"), prefix="a"), calls(HELLO, prefix="b"))
    if hangs_in == "the model":
        model.hold[0] = asyncio.Event()
    event = spoken("be quick") if is_person else Event(type=SELF_CREATED, content="be quick", source="self")
    async with a_mind(
        tmp_path, [model], [tool(hang, effect="pure")], start=Start(limits=RunLimits(seconds=0.05))
    ) as mind:
        await mind.handle(event)
        filed = await mind.mailbox.find(event.id)
        assert filed is not None
        assert (filed.state, filed.reason) == ("dead", "it took longer than an event may")
        assert [run[-1] for run in await states_of(mind, event)] == ["TIMED_OUT"]
        told = ["This takes me too long.", "I have stopped working on it."]
        assert mind.outlet.said == (told if is_person else [])
        assert mind.loop.run_in_hand is None


@pytest.mark.shows("B16")
async def test_the_six_fields_of_a_run_can_be_read_while_it_lasts(tmp_path: Path) -> None:
    model = ScriptedModel(calls(("check_mailbox", "{}"), prefix="a"), calls(HELLO, prefix="b"))
    model.hold[1] = asyncio.Event()
    async with a_mind(tmp_path, [model]) as mind:
        asked = aiter(mind.mind.bus.observe("llm.requests"))
        async with mind.at_work(spoken("hello")):
            await anext(asked)
            await anext(asked)
            run = mind.loop.run_in_hand
            assert run is not None
            described = run.describe()
            model.hold[1].set()
    assert described == {
        "run_id": run.id, "owner_key": "household", "status": "AWAITING_LLM_DECISION", "history": 4,
        "tools": len(mind.mind.registry.names), "iteration_count": 2,
    }  # fmt: skip


@pytest.mark.shows("B21", "F6")
async def test_without_a_model_a_run_still_reaches_its_end(tmp_path: Path) -> None:
    event = spoken("hello")
    async with a_mind(tmp_path, [UnreachableModel()]) as mind:
        await mind.handle(event)
        assert (await states_of(mind, event))[0][-1] == "SUSPENDED"
