"""A question at which each answer of a sound model breaks: said once, asked ever more rarely, and given up in words."""

from pathlib import Path

import pytest

from agent.run.questions import MOST_TRIES
from tests.agent.failing_server import House, Server, a_house, fault
from tests.agent.openai_script import Scripted
from tests.agent.openai_server import Recorded
from tests.agent.run.thinking.test_patience import LATER, SLOW, in_virtual_time, state
from tests.room.virtual_time import passed, run_virtually

pytestmark = pytest.mark.shows("B1", "B8")

SILENT = ["I heard you, but the model I think with says nothing.", LATER]

POISON = "Tell me number 13."


def poisoned(server: Server, kind: str) -> None:
    """Let a server fail in this way whenever it is asked number 13, and answer anything else."""

    def answer(request: Recorded) -> Scripted:
        sound = server.answer(request)
        newest = next(message for message in reversed(request.messages) if message["role"] == "user")
        return fault(kind, "Answer 13.", server.chance) if "number 13" in str(newest["content"]) else sound

    server.http.default = answer


async def talked_on(house: House, questions: int, seconds: float = 5.0) -> None:
    """Ask other questions, some seconds apart."""
    for number in range(20, 20 + questions):
        await house.answered(f"Tell me number {number}.")
        await passed(seconds)


@pytest.mark.parametrize("kind", ["open", "error said"])
def test_what_was_said_of_a_broken_answer_is_not_said_again_while_others_are_answered(
    tmp_path: Path, kind: str
) -> None:
    async def story() -> None:
        async with a_house(tmp_path, models=1) as house:
            poisoned(house.servers[0], kind)
            event = await house.answered(POISON)
            await talked_on(house, 12)
            answers = [words for words in house.said if words.startswith(("Answer 2", "Answer 3"))]
            assert len(answers) == 12
            assert house.said.count("Well now.") == 1, "no sentence is spoken twice"
            assert house.said.count("I heard you, but the model I think with gives me no whole answer to that.") == 1
            asked = await house.mind.journal.entries(topic="llm.requests", event_id=event.id)
            assert len({str(entry.body["cycle"]) for entry in asked}) <= 5, "others who are answered do not wake it"
            await talked_on(house, 12, 60.0)
            assert (await state(house, event))[0] == "dead"
            gave_up = "I have tried as often as I may, and I am giving this up: Tell me number 13."
            assert house.said.count(gave_up) == 1
            filed = await house.mind.mailbox.find(event.id)
            assert filed is not None
            assert filed.reason.startswith(f"it was asked {MOST_TRIES} times: the answer of")
            assert house.said.count("Well now.") == 1

    run_virtually(story())


@in_virtual_time
async def test_a_broken_answer_goes_on_after_what_was_said_once_the_model_comes_to_its_end(tmp_path: Path) -> None:
    async with a_house(tmp_path, models=1) as house:
        poisoned(house.servers[0], "error said")
        event = await house.answered(POISON)
        poisoned(house.servers[0], "late:0")
        await passed(120)
        assert (await state(house, event))[0] == "completed"
        assert [house.said.count(words) for words in ("Well now.", "Answer 13.")] == [1, 1]


@pytest.mark.parametrize("kind", ["5xx", "error"])
def test_one_question_at_which_the_server_fails_keeps_no_other_waiting(tmp_path: Path, kind: str) -> None:
    async def story() -> None:
        async with a_house(tmp_path, models=1) as house:
            poisoned(house.servers[0], kind)
            await house.answered(POISON)
            for number in (20, 21, 22):
                event = await house.answered(f"Tell me number {number}.")
                assert house.said[-1] == f"Answer {number}."
                assert house.silence_of(event) < 0.5
            asked = len(house.servers[0].asked_at)
            await talked_on(house, 10)
            assert len(house.servers[0].asked_at) - asked < 20, "nor is it asked whenever another is answered"

    run_virtually(story())


@in_virtual_time
async def test_a_server_that_says_nothing_is_told_of_and_the_next_question_does_not_wait_as_long(
    tmp_path: Path,
) -> None:
    async with a_house(tmp_path, models=1) as house:
        server = house.servers[0]
        server.script = ["silence"] * 99
        first = await house.answered("Tell me number 1.")
        assert house.said == ["One moment.", *SLOW, *SILENT]
        told = [at - house.mind.outlet.heard_at[0][1] for event_id, at in house.mind.outlet.heard_at]
        assert told[1] == pytest.approx(13.0, abs=0.2), "fifteen seconds after it was asked"
        assert len(server.asked_at) == 1, "it is not asked again at once"
        second = await house.answered("Tell me number 2.")
        assert house.said[-2:] == ["One moment.", "That waits for the model too."]
        assert house.mind.outlet.heard_at[-1][1] - house.handed[second.id] == pytest.approx(12.0, abs=0.2)
        clock = await house.reads("What time is it?")
        await house.rests()
        assert house.silence_of(clock) < 4.0, "what takes no model is said beside it"
        server.script = []
        await passed(300)
        assert [(await state(house, event))[0] for event in (first, second)] == ["completed"] * 2


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("empty", "the model I think with gave me an empty answer to that."),
        ("no room", "the model I think with used all its room up for thinking, and came to no answer."),
        ("thought", "the model I think with used all its room up for thinking, and came to no answer."),
        ("filtered", "the model I think with was kept from answering that by its own rules."),
    ],
)
def test_a_model_that_answers_with_nothing_is_not_told_to_be_away(tmp_path: Path, kind: str, told: str) -> None:
    async def story() -> None:
        async with a_house(tmp_path, models=1) as house:
            poisoned(house.servers[0], kind)
            event = await house.answered(POISON)
            assert f"I heard you, but {told}" in house.said
            filed = await house.mind.mailbox.find(event.id)
            failed = house.chain.describe()["failed"]
            assert filed is not None
            assert isinstance(failed, dict)
            assert isinstance(told_of := failed["m0"], dict)
            assert told_of["reason"] == filed.reason != "", "status and the mailbox tell the same"
            await house.answered("Tell me number 20.")
            assert house.said[-1] == "Answer 20."
            assert house.chain.describe()["failed"] == {}, "until a call succeeds"

    run_virtually(story())
