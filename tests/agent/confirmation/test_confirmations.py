"""What cannot be undone is asked first, and done once, on a plain yes of the one who was asked."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.errors import ModelRefused
from agent.event import HOUSEHOLD, SELF_CREATED, Event
from agent.intents.model import OfflineModel
from agent.tools.registry.finding import USE
from agent.tools.registry.sharing import for_members
from memory.json_value import Json
from tests.agent.confirmation.doors import QUESTION, UNLOCK, Doors, Time, results, said
from tests.agent.mind import NOON, Start, TestMind, a_mind, typed
from tests.fakes import Scripted, ScriptedModel, calls

DONE = calls(("reply", '{"text": "It is open."}'), prefix="done")
REFUSED = "All right, I will not unlock the front door."
AGAIN = f"To be sure: {QUESTION}"


@asynccontextmanager
async def a_house(
    folder: Path, doors: Doors, at: Time, *script: Scripted
) -> AsyncIterator[tuple[TestMind, ScriptedModel]]:
    model = ScriptedModel(*script)
    start = Start(now=at, clock=lambda: at.seconds)
    async with a_mind(folder, [model], doors.tools, start=start) as mind:
        yield mind, model


async def asked(mind: TestMind, at: Time) -> None:
    await mind.handle(said("unlock the front door", at, ago=2.0))
    at.passes(1.0)


def heard(mind: TestMind) -> str:
    return " ".join(mind.outlet.said)


@pytest.mark.shows("G1", "X12")
async def test_a_door_opens_once_after_a_yes_and_the_model_tells_of_it(tmp_path: Path) -> None:
    doors, at = Doors(), Time()
    async with a_house(tmp_path, doors, at, calls(UNLOCK), DONE) as (mind, model):
        await asked(mind, at)
        assert heard(mind) == QUESTION
        assert doors.opened == []
        assert len(model.requests) == 1, "the question costs no thought of its own"
        await mind.handle(said("Yes, please.", at))
        assert len(doors.opened) == 1
        assert heard(mind) == f"{QUESTION} It is open."
        assert results(mind)[1] == "unlocked"
        assert "They said yes to this: unlock the front door" in model.requests[1][-3].content


async def test_a_second_yes_opens_nothing_more(tmp_path: Path) -> None:
    doors, at = Doors(), Time()
    fine = calls(("reply", '{"text": "Fine."}'), prefix="fine")
    async with a_house(tmp_path, doors, at, calls(UNLOCK), DONE, fine) as (mind, _):
        await asked(mind, at)
        await mind.handle(said("Yes.", at))
        at.passes(3)
        await mind.handle(said("Yes.", at))
    assert len(doors.opened) == 1


async def test_a_call_that_needs_no_yes_is_not_asked_about(tmp_path: Path) -> None:
    doors, at = Doors(), Time()
    async with a_house(tmp_path, doors, at, calls(("lock", '{"locked": true}')), DONE) as (mind, _):
        await asked(mind, at)
        assert len(doors.opened) == 1
        assert heard(mind) == "It is open."


@pytest.mark.parametrize("words", ["No.", "不用了。"])
async def test_a_no_ends_it_and_is_answered_without_a_model(tmp_path: Path, words: str) -> None:
    doors, at = Doors(), Time()
    async with a_house(tmp_path, doors, at, calls(UNLOCK)) as (mind, model):
        await asked(mind, at)
        await mind.handle(said(words, at))
        assert heard(mind) == f"{QUESTION} {REFUSED}"
        assert doors.opened == []
        assert len(model.requests) == 1


async def test_other_words_end_it_and_are_answered_as_ever(tmp_path: Path) -> None:
    """A yes that comes after that is about something else: it opens nothing."""
    doors, at = Doors(), Time()
    rain = calls(("reply", '{"text": "It rains."}'), prefix="rain")
    fine = calls(("reply", '{"text": "Fine."}'), prefix="fine")
    async with a_house(tmp_path, doors, at, calls(UNLOCK), rain, fine) as (mind, model):
        await asked(mind, at)
        await mind.handle(said("Yes, and what is the weather?", at))
        assert heard(mind) == f"{QUESTION} {REFUSED} It rains."
        assert "They did not say yes to this: unlock the front door" in model.requests[1][-1].content
        await mind.handle(said("Yes.", at))
        assert doors.opened == []


async def test_a_yes_that_comes_too_late_opens_nothing_and_is_told_so(tmp_path: Path) -> None:
    doors, at = Doors(), Time()
    async with a_house(tmp_path, doors, at, calls(UNLOCK)) as (mind, _):
        await asked(mind, at)
        at.passes(61)
        await mind.handle(said("Yes.", at))
        assert heard(mind) == f"{QUESTION} That came too late. This was not done: unlock the front door."
        assert doors.opened == []


async def test_a_yes_with_the_name_that_it_was_given_counts(tmp_path: Path) -> None:
    doors, at = Doors(), Time()
    start = Start(now=at, clock=lambda: at.seconds, names=["computer"])
    async with a_mind(tmp_path, [ScriptedModel(calls(UNLOCK), DONE)], doors.tools, start=start) as mind:
        await asked(mind, at)
        await mind.handle(said("Computer, yes.", at))
        assert len(doors.opened) == 1


async def test_a_question_that_waits_is_told_until_it_is_answered_or_over(tmp_path: Path) -> None:
    doors, at = Doors(), Time()
    no, again = calls(UNLOCK, prefix="a"), calls(UNLOCK, prefix="b")
    async with a_house(tmp_path, doors, at, no, again) as (mind, _):
        assert mind.loop.describe_questions() == {"waiting": []}
        await asked(mind, at)
        until = (at() + timedelta(seconds=59)).isoformat()
        assert mind.loop.describe_questions() == {"waiting": [{"tool": "lock", "until": until}]}
        await mind.handle(said("No.", at))
        assert mind.loop.describe_questions() == {"waiting": []}
        await asked(mind, at)
        assert len(mind.loop.describe_questions()["waiting"]) == 1  # type: ignore[arg-type]
        at.passes(61)
        assert mind.loop.describe_questions() == {"waiting": []}


async def test_a_yes_in_time_that_is_taken_up_much_later_opens_nothing(tmp_path: Path) -> None:
    """The power went for an hour between the yes and its hand-over: nobody expects the door to open then."""
    doors, at = Doors(), Time()
    async with a_house(tmp_path, doors, at, calls(UNLOCK)) as (mind, _):
        await asked(mind, at)
        await mind.mailbox.enqueue(said("Yes.", at))
        at.passes(3600)
        await mind.handle_next()
        assert doors.opened == []
        assert "That came too late." in heard(mind)


@pytest.mark.parametrize(
    ("what", "evidence"),
    [
        ("a television's, far from who asked", {"level_dbfs": -40.0}),
        ("the echo of its own voice", {"echo_suspicion": 0.5}),
        ("one that was hardly heard", {"score": 0.5}),
        ("a guess of the recognizer's", {"confidence": "low"}),
        ("one said to somebody else", {"addressed": "unknown"}),
    ],
)
async def test_a_yes_of_little_evidence_is_asked_for_once_more_and_no_more(
    tmp_path: Path, what: str, evidence: dict[str, Json]
) -> None:
    doors, at = Doors(), Time()
    async with a_house(tmp_path, doors, at, calls(UNLOCK)) as (mind, _):
        await mind.handle(said("unlock the front door", at, ago=2.0))
        for words in ("Yes.", "Yes."):
            at.passes(2)
            await mind.handle(said(words, at, 0.0, **evidence))
        doubt = "I could not be sure of that yes. This was not done: unlock the front door."
        assert heard(mind) == f"{QUESTION} {AGAIN} {doubt}", what
        assert doors.opened == []


async def test_a_sure_yes_to_the_second_question_opens(tmp_path: Path) -> None:
    doors, at = Doors(), Time()
    async with a_house(tmp_path, doors, at, calls(UNLOCK), DONE) as (mind, _):
        await asked(mind, at)
        await mind.handle(said("Yes.", at, score=0.5))
        at.passes(1)
        await mind.handle(said("Yes.", at))
        assert len(doors.opened) == 1


async def test_a_yes_that_began_before_the_question_was_over_is_asked_for_again(tmp_path: Path) -> None:
    doors, at = Doors(), Time()
    async with a_house(tmp_path, doors, at, calls(UNLOCK)) as (mind, _):
        await asked(mind, at)
        await mind.handle(said("Yes.", at, ago=1.5))
        assert heard(mind) == f"{QUESTION} {AGAIN}"
        assert doors.opened == []


async def test_words_that_were_said_before_the_question_do_not_end_it(tmp_path: Path) -> None:
    doors, at = Doors(), Time()
    rain = calls(("reply", '{"text": "It rains."}'), prefix="rain")
    async with a_house(tmp_path, doors, at, calls(UNLOCK), rain, DONE) as (mind, _):
        await asked(mind, at)
        await mind.handle(said("And what is the weather?", at, ago=1.5))
        at.passes(1)
        await mind.handle(said("Yes.", at))
        assert len(doors.opened) == 1


async def test_a_question_that_is_cut_off_was_not_asked(tmp_path: Path) -> None:
    """Somebody speaks over it: a yes after that is asked for once more, in a question that is heard."""
    doors, at = Doors(), Time()
    async with a_house(tmp_path, doors, at, calls(UNLOCK)) as (mind, _):
        mind.outlet.playing.clear()
        async with mind.at_work(said("unlock the front door", at, ago=2.0)):
            await mind.outlet.sentence_said.wait()
            mind.outlet.hush()
        mind.outlet.playing.set()
        at.passes(1)
        await mind.handle(said("Yes.", at))
        assert heard(mind) == f"{QUESTION} {AGAIN}"
        assert doors.opened == []


@pytest.mark.parametrize(
    "somebody",
    [
        replace(typed("yes", "another"), created_at=NOON),
        replace(typed("yes", "room"), owner_key="a guest"),
        Event(SELF_CREATED, "yes", source="self", session_id="room"),
    ],
)
async def test_somebody_elses_yes_does_not_count(tmp_path: Path, somebody: Event) -> None:
    """Another session's, another owner's, and one that the agent wrote itself: nothing opens, the question stays."""
    doors, at = Doors(), Time()
    fine = calls(("reply", '{"text": "Fine."}'), prefix="fine")
    async with a_house(tmp_path, doors, at, calls(UNLOCK), fine, DONE) as (mind, _):
        await asked(mind, at)
        await mind.handle(replace(somebody, created_at=at.now))
        assert doors.opened == []
        await mind.handle(said("Yes.", at))
        assert len(doors.opened) == 1


@pytest.mark.parametrize("name", ["confirm", "yes"])
async def test_a_model_that_confirms_by_itself_opens_nothing(tmp_path: Path, name: str) -> None:
    doors, at = Doors(), Time()
    itself = calls(UNLOCK, (name, "{}"), ("reply", '{"text": "Yes."}'))
    async with a_house(tmp_path, doors, at, itself) as (mind, _):
        await mind.handle(said("unlock the front door", at, ago=2.0))
        assert doors.opened == []
        assert results(mind)[1].startswith("error: there is no tool")


async def test_a_call_through_use_tool_is_asked_about_too(tmp_path: Path) -> None:
    doors, at = Doors(), Time()
    through = calls((USE, '{"name": "lock", "arguments": {"locked": false}}'))
    async with a_house(tmp_path, doors, at, through) as (mind, _):
        await asked(mind, at)
        assert (heard(mind), doors.opened) == (QUESTION, [])


async def test_of_two_calls_one_is_asked_about_and_what_stands_beside_is_done(tmp_path: Path) -> None:
    doors, at = Doors(), Time()
    both = calls(UNLOCK, UNLOCK, ("send_letter", '{"to": "Ada"}'))
    async with a_house(tmp_path, doors, at, both) as (mind, _):
        await asked(mind, at)
        assert (heard(mind), doors.opened, doors.sent) == (QUESTION, [], ["Ada"])
        assert results(mind)[1] == "not done: another question is asked first; call this again when that is answered"


async def test_what_the_call_would_do_by_then_is_asked_anew(tmp_path: Path) -> None:
    """The lock was given another name meanwhile: the yes was to something else."""
    doors, at = Doors(), Time()
    async with a_house(tmp_path, doors, at, calls(UNLOCK)) as (mind, _):
        await asked(mind, at)
        doors.name = "garage"
        await mind.handle(said("Yes.", at))
        assert heard(mind) == f"{QUESTION} I am about to unlock the garage. Shall I?"
        assert doors.opened == []


async def test_work_of_its_own_does_not_do_it_and_has_to_tell(tmp_path: Path) -> None:
    doors, at = Doors(), Time()
    tell = calls(("reply", '{"text": "I wanted to unlock the door."}'), prefix="tell")
    async with a_house(tmp_path, doors, at, calls(UNLOCK), tell) as (mind, model):
        await mind.handle(Event(SELF_CREATED, "at eight: unlock the door", source="self"))
        assert doors.opened == []
        assert "needs a person's yes" in model.requests[1][-1].content


async def test_what_cannot_tell_what_it_does_is_not_done(tmp_path: Path) -> None:
    async def silent(arguments: object) -> str:
        raise OSError("no route to the house")

    doors, at = Doors(), Time()
    blind = [replace(each, asks_first=silent) if each.name == "lock" else each for each in doors.tools]
    model = ScriptedModel(calls(UNLOCK), calls(("reply", '{"text": "No."}'), prefix="b"))
    async with a_mind(tmp_path, [model], blind, start=Start(now=at)) as mind:
        await mind.handle(said("unlock the front door", at))
        assert doors.opened == []
        assert results(mind)[0].startswith("error: it cannot be told what this would do (no route to the house)")


@pytest.mark.parametrize(
    ("session", "hint"), [("cli", "(Within a minute: nakari ask yes)"), ("chat", "(Write yes within a minute.)")]
)
async def test_it_is_asked_and_answered_in_writing_too(tmp_path: Path, session: str, hint: str) -> None:
    doors, at = Doors(), Time()
    async with a_house(tmp_path, doors, at, calls(UNLOCK), DONE) as (mind, _):
        await mind.handle(typed("unlock the front door", session))
        assert heard(mind) == f"{QUESTION} {hint}"
        at.passes(10)
        await mind.handle(replace(typed("yes", session), created_at=at.now))
        assert len(doors.opened) == 1


async def test_the_question_outlives_the_process(tmp_path: Path) -> None:
    doors, at = Doors(), Time()
    async with a_house(tmp_path, doors, at, calls(UNLOCK)) as (mind, _):
        await asked(mind, at)
    async with a_house(tmp_path, doors, at, DONE) as (mind, _):
        await mind.handle(said("Yes.", at))
        assert len(doors.opened) == 1


@pytest.mark.parametrize(
    ("doors", "told"),
    [
        (Doors(), "It is done."),
        (Doors(jams="jammed"), "That did not work: jammed."),
        (Doors(tells="The door is open."), "The door is open."),
    ],
)
async def test_without_a_model_what_came_of_it_is_told_all_the_same(tmp_path: Path, doors: Doors, told: str) -> None:
    at = Time()
    model = ScriptedModel(calls(UNLOCK), ModelRefused("the key is wrong"))
    start = Start(now=at, clock=lambda: at.seconds)
    async with a_mind(tmp_path, [model, OfflineModel()], doors.tools, start=start) as mind:
        await asked(mind, at)
        await mind.handle(said("Yes.", at))
        assert mind.outlet.said[-1] == told


async def test_in_a_chinese_house_it_is_asked_and_answered_in_chinese(tmp_path: Path) -> None:
    async def about_to(arguments: object) -> str:
        return "打开前门"

    doors, at = Doors(), Time()
    tools = [replace(each, asks_first=about_to) if each.name == "lock" else each for each in doors.tools]
    model = ScriptedModel(calls(UNLOCK), calls(("reply", '{"text": "门开了。"}'), prefix="done"))
    async with a_mind(tmp_path, [model], tools, start=Start(now=at, clock=lambda: at.seconds)) as mind:
        await mind.handle(said("打开前门", at, ago=2.0))
        assert heard(mind) == "我要打开前门，可以吗？"
        at.passes(1)
        await mind.handle(said("好的。", at))
        assert len(doors.opened) == 1


async def test_wrong_arguments_are_refused_and_not_asked_about(tmp_path: Path) -> None:
    doors, at = Doors(), Time()
    wrong = calls(("lock", '{"open": true}'))
    async with a_house(tmp_path, doors, at, wrong, calls(("reply", '{"text": "No."}'), prefix="b")) as (mind, _):
        await asked(mind, at)
        assert results(mind)[0].startswith("error: lock was called with wrong arguments")
        assert heard(mind) == "No."


async def test_a_visitor_is_refused_and_asked_nothing(tmp_path: Path) -> None:
    doors, at = Doors(), Time()
    of_members = [for_members(each, lambda owner: owner == HOUSEHOLD, "only for members") for each in doors.tools]
    model = ScriptedModel(calls(UNLOCK), calls(("reply", '{"text": "I may not."}'), prefix="b"))
    async with a_mind(tmp_path, [model], of_members, start=Start(now=at)) as mind:
        await mind.handle(replace(typed("unlock the front door"), owner_key="a visitor"))
        assert heard(mind) == "I may not."
        assert "only for members" in model.requests[1][-1].content
