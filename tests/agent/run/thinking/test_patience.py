"""Patience with models, in virtual time: retries, questions that wait, signs, and one model beside another."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from datetime import UTC, time
from pathlib import Path
from random import Random
from typing import Any

import pytest

from agent.errors import ModelUnavailable, StreamBroken
from agent.event import Event
from agent.intents.model import OfflineModel
from agent.model.chain import Chain, Guarded
from agent.model.dialects.dialect import Dialect
from agent.model.faults import refused
from agent.model.interface import OFFLINE, Answer
from agent.model.openai_compatible import OpenAiCompatibleModel
from agent.model.sight import Sight
from agent.model.stream.accumulate import Accumulator
from agent.model.stream.relay import Chunk, Patience, relay
from agent.model.wire.profile import GENERIC
from agent.run.questions import drops_questions
from agent.run.run_state import RunState
from agent.run.system_replies import SystemReplies
from agent.time.quiet import QuietHours
from agent.tools.journal import recall_tool
from memory.json_value import Json
from memory.recall import Recall
from memory.vectors.embedding import NoEmbedder
from tests.agent.failing_server import House, a_house, go_through
from tests.agent.mind import a_mind, spoken, typed
from tests.agent.openai_server import Gate, Scripted, call, reply
from tests.fakes import RecordingOutlet, ScriptedModel, calls
from tests.room.virtual_time import EPOCH, passed, run_virtually

LATER = "I will answer when it does; say never mind, and I drop it."

AWAY = [
    "I heard you, but I cannot reach the model I think with right now.",
    "I will answer when it is back; say never mind, and I drop it.",
]
"""What is told where nothing listens."""

ILL = ["I heard you, but the model I think with does not work as it should right now.", LATER]
"""What is told of a server in trouble."""

SLOW = ["This takes long.", "I am still waiting for the model I think with."]

FULL = ["I heard you, but the model I think with takes no more questions right now.", LATER]

REFUSED = [
    "I heard you, but the server of the model I think with refuses what I ask of it.",
    "I will answer when it does not; say never mind, and I drop it.",
]


def in_virtual_time(story: Callable[[Path], Coroutine[Any, Any, None]]) -> Callable[[Path], None]:
    """Make a test of a story: its hours pass at once."""

    def test(tmp_path: Path) -> None:
        run_virtually(story(tmp_path))

    test.__name__ = story.__name__
    return test


async def state(house: House, event: Event) -> tuple[str, str]:
    filed = await house.mind.mailbox.find(event.id)
    assert filed is not None
    return filed.state, filed.waits_for


@pytest.mark.shows("B1", "X5")
@pytest.mark.parametrize("kind", ["429:3", "429 date", "5xx", "5xx later:5", "close", "cut unsaid"])
def test_a_fault_that_passes_is_asked_again_before_anybody_is_told(tmp_path: Path, kind: str) -> None:
    async def story() -> None:
        async with a_house(tmp_path, models=1) as house:
            house.servers[0].script = [kind] * (2 if kind == "close" else 1)  # the client asks a closed one twice
            event = await house.answered("Tell me number 1.")
            assert [words for words in house.said if words != "One moment."] == ["Answer 1."]
            assert await state(house, event) == ("completed", "")

    run_virtually(story())


@pytest.mark.shows("B1", "X5")
@in_virtual_time
async def test_retry_after_is_kept_to(tmp_path: Path) -> None:
    async with a_house(tmp_path, models=1) as house:
        server = house.servers[0]
        server.script = ["429:4", "429 date:13"]
        await house.answered("Tell me number 1.")
        first, second, third = server.asked_at
        assert 4.0 <= second - first < 5.0
        # What the machine takes between the writing of a date and its reading is missing from the wait.
        assert 6.0 < third - second < 14.0, "a date is kept to as well"


@pytest.mark.shows("B8", "X5")
@in_virtual_time
async def test_what_is_refused_is_asked_of_the_next_model_only(tmp_path: Path) -> None:
    async with a_house(tmp_path) as house:
        house.servers[0].script = ["400"]
        await house.answered("Tell me number 1.")
        assert house.said == ["Answer 1."]
        assert [len(each.asked_at) for each in house.servers] == [1, 1]


@pytest.mark.shows("B1", "B8", "X5")
@in_virtual_time
async def test_a_question_that_nobody_answers_waits_and_is_answered_when_a_model_is_back(tmp_path: Path) -> None:
    async with a_house(tmp_path) as house:
        for server in house.servers:
            server.share, server.is_down = 1.0, True
            server.script = ["5xx"] * 50
        first = await house.answered("Tell me number 1.")
        second = await house.answered("Tell me number 2.")
        assert house.said == ["One moment.", *ILL, "That waits for the model too."]
        assert await state(house, first) == ("suspended", "model_available")
        clock = await house.answered("What time is it?")
        assert await state(house, clock) == ("completed", ""), "what takes no model is done at once"
        await passed(600)
        assert len(house.said) == 5, "nobody is told again"
        for server in house.servers:
            server.share, server.is_down, server.script = 0.0, False, []
        await passed(900)
        assert sorted(house.said[5:]) == ["Answer 1.", "Answer 2."]
        assert (await state(house, first), await state(house, second)) == (("completed", ""), ("completed", ""))
        filed = await house.mind.mailbox.find(first.id)
        assert filed is not None
        assert filed.progress.model_calls == 1, "failed calls cost the event no thought"


@pytest.mark.shows("B1", "A7", "X5")
@in_virtual_time
async def test_where_nothing_listens_a_person_is_told_within_seconds_whatever_the_breaker_says(tmp_path: Path) -> None:
    """The first thought ends in the offline model's search, the second in its word that it takes a model."""
    now = asyncio.get_running_loop().time
    gone = Guarded("gone", OpenAiCompatibleModel("http://127.0.0.1:9/v1", "m"), clock=now)
    offline = OfflineModel()
    async with a_mind(
        tmp_path,
        Chain([gone, Guarded(OFFLINE, offline)]),
        lambda journal, _: [recall_tool(Recall(journal, NoEmbedder()))],
    ) as mind:
        for words in ("tell me about the stars", "tell me about the moon"):
            began = now()
            await mind.handle(typed(words))
            assert now() - began < 3
    assert mind.outlet.said[:2] == AWAY
    await gone.aclose()


@pytest.mark.shows("B1", "X5")
@in_virtual_time
async def test_a_server_that_wants_longer_than_a_person_waits_is_not_waited_for(tmp_path: Path) -> None:
    async with a_house(tmp_path, models=1) as house:
        house.servers[0].script = ["429:60"]
        event = await house.answered("Tell me number 1.")
        assert house.said == FULL
        assert len(house.servers[0].asked_at) == 1
        await passed(300)
        assert house.said[2:] == ["Answer 1."]
        assert house.servers[0].asked_at[1] - house.servers[0].asked_at[0] >= 60
        assert await state(house, event) == ("completed", "")


@pytest.mark.shows("B1", "X5")
async def test_the_second_thought_behind_a_model_that_rests_tells_why_it_does(tmp_path: Path) -> None:
    full = refused("m", 429, "", "60")
    looked = calls(("check_mailbox", "{}"))
    models = Chain.of([ScriptedModel(full), ScriptedModel(looked, ModelUnavailable("beyond me"), name=OFFLINE)])
    async with a_mind(tmp_path, models) as mind:
        event = spoken("Tell me number 1.")
        await mind.handle(event)
        assert mind.outlet.said == FULL
        assert await mind.state_of(event) == "suspended"


@pytest.mark.shows("B1", "X5")
@in_virtual_time
async def test_words_already_said_are_not_said_again_when_a_cut_answer_goes_on(tmp_path: Path) -> None:
    async with a_house(tmp_path, models=1) as house:
        house.servers[0].script = ["cut said"]
        await house.answered("Tell me number 1.")
        assert house.said == ["Well now.", "Answer 1."]


@pytest.mark.shows("A7", "G1", "X5")
@in_virtual_time
async def test_a_silent_model_gets_a_sign_and_then_the_next_one_beside_it(tmp_path: Path) -> None:
    async with a_house(tmp_path) as house:
        house.servers[0].script = ["silence"] * 2
        spoken = await house.answered("Tell me number 1.")
        assert house.said == ["One moment.", "Answer 1."]
        assert house.silence_of(spoken) == pytest.approx(2.0, abs=0.2)
        assert house.servers[1].asked_at[0] - house.servers[0].asked_at[0] == pytest.approx(12.0, abs=0.2)
        lost, kept = await house.mind.journal.entries(topic="llm.results", event_id=spoken.id)
        assert (lost.body["finish_reason"], kept.body["model"]) == ("lost", house.chain.models[1].name)
        assert house.chain.spent.calls == 2, "both are billed"
        figures = (await house.mind.mailbox.find(spoken.id)).figures  # type: ignore[union-attr]
        assert figures["prompt_tokens"] == lost.body["prompt_tokens"] + kept.body["prompt_tokens"]  # type: ignore[operator]
        written = await house.reads("Tell me number 2.")
        await house.rests()
        assert house.said[2:] == ["Answer 2."], "who writes sees that it goes on, and hears no sign"
        assert house.silence_of(written) == pytest.approx(12.0, abs=0.2)
        await house.answered("Tell me number 3.")
        assert len(house.servers[0].asked_at) == 2, "who was silent twice is left alone for a while"


@pytest.mark.shows("A7", "B1", "X5")
@in_virtual_time
async def test_the_first_of_two_may_yet_answer_and_only_one_is_heard(tmp_path: Path) -> None:
    async with a_house(tmp_path) as house:
        house.servers[0].script, house.servers[1].script = ["late:20"], ["silence"]
        event = await house.answered("Tell me number 1.")
        assert house.said == ["One moment.", *SLOW, "Answer 1."]
        assert house.silence_of(event) == pytest.approx(2.0, abs=0.2)
        answers = await house.mind.journal.entries(topic="context.message", event_id=event.id)
        assert sum("Answer 1." in str(entry.body) for entry in answers) == 1


@pytest.mark.shows("A7", "X5")
@in_virtual_time
async def test_a_slow_machine_that_is_the_only_model_is_waited_for(tmp_path: Path) -> None:
    async with a_house(tmp_path, models=1) as house:
        house.servers[0].script = ["late:100"]
        event = await house.answered("Tell me number 1.")
        assert house.said == ["One moment.", *SLOW, "Answer 1."]
        assert await state(house, event) == ("completed", "")
        house.servers[0].script = ["late:100"]
        await house.answered("What time is it?")
        assert house.said[4:7] == ["One moment.", *SLOW]
        assert house.said[7].startswith("It is "), "after a minute the offline model says what it knows"


@pytest.mark.shows("A7", "B1", "X5")
@in_virtual_time
async def test_an_answer_that_stands_still_gets_a_sign_and_a_word_and_goes_on(tmp_path: Path) -> None:
    async with a_house(tmp_path, models=1) as house:
        house.servers[0].script = ["stalls:25"]
        event = await house.answered("Tell me number 1.")
        assert house.said == ["Well now.", "One moment.", *SLOW, "Answer 1."]
        began, sign, word, *_, ended = (at - house.handed[event.id] for _, at in house.mind.outlet.heard_at)
        assert began < 0.5
        assert sign == pytest.approx(2.5, abs=0.6)
        assert word == pytest.approx(15.5, abs=0.6)
        assert ended == pytest.approx(25.0, abs=0.2)


@pytest.mark.shows("A7", "B1", "X5")
@pytest.mark.parametrize("kind", ["stalls", "beats"])
def test_an_answer_that_stands_still_is_given_up_and_its_rest_asked_for_once_more(tmp_path: Path, kind: str) -> None:
    async def story() -> None:
        async with a_house(tmp_path, models=1) as house:
            house.servers[0].script = [kind]
            event = await house.answered("Tell me number 1.")
            assert house.said == ["Well now.", "One moment.", *SLOW, "Answer 1."]
            assert house.mind.outlet.heard_at[-1][1] - house.handed[event.id] == pytest.approx(30.0, abs=0.5)
            house.servers[0].script = [kind, "silence"]
            event = await house.answered("Tell me number 2.")
            assert house.said[5:9] == ["Well now.", "One moment.", *SLOW]
            assert house.said[9].startswith("I heard you, but the model I think with says nothing.")
            told = next(
                at
                for (_, at), said in zip(house.mind.outlet.heard_at, house.said, strict=True)
                if said.startswith("I heard you")
            )
            assert told - house.handed[event.id] == pytest.approx(42.0, abs=1.0)
            await passed(600)
            assert house.said[-1] == "Answer 2."
            assert await state(house, event) == ("completed", "")

    run_virtually(story())


@pytest.mark.shows("A7", "X5")
@pytest.mark.parametrize(
    ("pace", "held_back", "stops"),
    [(0.8, 50.0, ""), (0.8, 70.0, "stopped for 60 s"), (0.0, 50.0, "stopped for 30 s")],
    ids=["slow", "slow and gone", "quick and gone"],
)
def test_a_call_that_a_slow_server_holds_back_is_waited_for(pace: float, held_back: float, stops: str) -> None:
    async def chunks() -> AsyncIterator[Chunk]:
        for word in ["It", "is", "noon.", "Let", "me", "note", "that."]:
            await passed(pace)
            yield {"choices": [{"delta": {"content": f"{word} "}}]}
        await passed(held_back)
        function: Json = {"name": "note", "arguments": "{}"}
        yield {"choices": [{"delta": {"tool_calls": [{"function": function}]}, "finish_reason": "stop"}]}

    async def story() -> None:
        accumulator = Accumulator(frozenset(), (), Dialect(GENERIC, "m", Sight()))
        items = relay(chunks(), accumulator, "m", Patience())
        if stops:
            with pytest.raises(StreamBroken, match=stops):
                [item async for item in items]
        else:
            answer = [item async for item in items][-1]
            assert isinstance(answer, Answer)
            assert [call.name for call in answer.message.tool_calls] == ["note"]

    run_virtually(story())


@pytest.mark.shows("A7", "X5")
@in_virtual_time
async def test_a_server_that_only_counts_the_tokens_of_what_it_holds_back_is_at_work(tmp_path: Path) -> None:
    async def chunks() -> AsyncIterator[Chunk]:
        yield {"choices": [{"delta": {"content": "It is noon."}}]}
        for count in range(5, 10):
            await passed(20)
            yield {"choices": [], "usage": {"completion_tokens": count}}
        yield {"choices": [{"delta": {"content": " Really."}, "finish_reason": "stop"}]}

    accumulator = Accumulator(frozenset(), (), Dialect(GENERIC, "m", Sight()))
    answer = [item async for item in relay(chunks(), accumulator, "m", Patience())][-1]
    assert isinstance(answer, Answer)
    assert answer.message.content == "It is noon. Really."


@pytest.mark.shows("A7", "B10", "X5")
@pytest.mark.parametrize("waits", [1.0, 8.0], ids=["just before it is known", "later"])
def test_whoever_speaks_again_while_an_answer_stands_still_is_answered_at_once(tmp_path: Path, waits: float) -> None:
    async def story() -> None:
        async with a_house(tmp_path, models=1) as house:
            house.servers[0].script = ["stalls"]
            first = await house.hears("Tell me number 1.")
            await passed(waits)
            asked_at = asyncio.get_running_loop().time()
            second = await house.answered("Tell me number 2.")
            assert (house.said[-1], "Answer 1." in house.said) == ("Answer 2.", False)
            assert house.handed[second.id] - asked_at < 4.0
            assert "Well now." in str(house.servers[0].http.requests[-1].messages), "what was said stays said"
            await passed(30)
            assert (house.said[0], house.said[-1]) == ("Well now.", "Answer 1."), "its rest comes then"
            assert house.said.count("Well now.") == 1
            assert await state(house, first) == ("completed", "")

    run_virtually(story())


@pytest.mark.shows("A7", "X5")
@in_virtual_time
async def test_a_question_of_another_session_waits_for_an_answer_that_stands_still(tmp_path: Path) -> None:
    async with a_house(tmp_path, models=1) as house:
        house.servers[0].script = ["stalls:20"]
        await house.hears("Tell me number 1.")
        await passed(8)
        await house.reads("Tell me number 2.")
        await house.rests()
        assert house.said[-2:] == ["Answer 1.", "Answer 2."]


@pytest.mark.shows("A7", "X5")
@in_virtual_time
async def test_nothing_is_written_into_the_middle_of_an_answer_that_stands_still(tmp_path: Path) -> None:
    async with a_house(tmp_path, models=1) as house:
        house.mind.outlet.writes = True
        house.servers[0].script = ["stalls:25"]
        await house.reads("Tell me number 1.")
        await house.rests()
        assert house.said == ["Well now.", "Answer 1."]


@pytest.mark.shows("A7", "X5")
@in_virtual_time
async def test_whoever_has_their_answer_waits_for_nothing_more(tmp_path: Path) -> None:
    async with a_house(tmp_path, models=1) as house:
        server = house.servers[0].http
        steps, gate = [*reply("It is noon.", also=[call("check_mailbox", "{}")]).steps], Gate()
        server.enqueue(Scripted([*steps[:-2], gate, *steps[-2:]]))
        asyncio.get_running_loop().call_later(20, gate.open)
        await house.answered("Tell me number 1.")
        assert house.said[0] == "It is noon."
        assert "One moment." not in house.said


@pytest.mark.shows("A7", "X5")
@in_virtual_time
async def test_whoever_waits_while_a_call_is_written_hears_that_it_goes_on(tmp_path: Path) -> None:
    async with a_house(tmp_path, models=1) as house:
        house.servers[0].script = ["looks:9"]
        event = await house.answered("Tell me number 1.")
        assert house.said == ["One moment.", "Answer 1."]
        assert house.silence_of(event) == pytest.approx(2.0, abs=0.2)


@pytest.mark.shows("B1", "X5")
@in_virtual_time
async def test_a_question_is_withdrawn_by_voice(tmp_path: Path) -> None:
    async with a_house(tmp_path) as house:
        for server in house.servers:
            server.script, server.is_down = ["5xx"] * 99, True
        asked = await house.answered("Tell me number 1.")
        written = await house.reads("Tell me number 2.")
        await house.rests()
        await house.answered("Never mind.")
        assert (await state(house, asked))[0] == "withdrawn"
        assert await state(house, written) == ("suspended", "model_available"), "what another wrote is not dropped"


@pytest.mark.shows("B1", "X5")
@in_virtual_time
async def test_what_is_asked_while_a_model_is_ill_for_most_of_a_day_is_answered_when_it_is_well(tmp_path: Path) -> None:
    async with a_house(tmp_path, models=1) as house:
        house.servers[0].script = ["5xx"] * 999
        asked = await house.reads("Tell me number 1.")
        await passed(20 * 3600)
        assert (await state(house, asked))[0] == "suspended"
        house.servers[0].script = []
        await passed(3600)
        assert (await state(house, asked))[0] == "completed"
        assert house.said[-1] == "Answer 1."


@pytest.mark.shows("B1", "G13", "X5")
@in_virtual_time
async def test_an_old_question_is_not_answered_at_night_but_asked_about_when_somebody_speaks(tmp_path: Path) -> None:
    quiet = QuietHours(time(22), time(7), UTC)
    async with a_house(tmp_path, models=1, quiet=quiet) as house:
        server = house.servers[0]
        server.share, server.is_down, server.script = 1.0, True, ["5xx"] * 999
        await passed(9.5 * 3600)  # half past nine in the evening
        event = await house.answered("Tell me number 1.")
        other = await house.answered("Tell me number 3.")
        await passed(1800)
        assert house.said == ["One moment.", *ILL, "That waits for the model too."]
        server.share, server.is_down, server.script = 0.0, False, []
        await passed(8 * 3600)
        assert len(house.said) == 4, "not in the night"
        await passed(2 * 3600)
        assert len(house.said) == 4, "nor into an empty room in the morning"
        assert [await state(house, each) for each in (event, other)] == [("suspended", "asr_transcript")] * 2
        await house.reads("Tell me number 4.")
        await house.rests()
        assert house.said[4:] == ["Answer 4."], "who writes may be elsewhere"
        await house.answered("Tell me number 2.")
        await house.rests()
        assert house.said[5:] == ["Answer 2.", "Answer 1.", "Answer 3."]
        assert "It is old: do not answer it now" in server.newest


@pytest.mark.shows("B1", "X5")
@in_virtual_time
async def test_a_question_that_nobody_can_answer_for_a_day_is_given_up(tmp_path: Path) -> None:
    async with a_house(tmp_path, models=1) as house:
        house.servers[0].script = ["400"] * 999
        event = await house.answered("Tell me number 1.")
        assert (await state(house, event))[0] == "suspended"
        await passed(25 * 3600)
        await house.answered("What time is it?")
        assert (await state(house, event))[0] == "dead"
        assert house.said[:2] == REFUSED
        assert len(house.said) == 3, "the time was told, and nothing else"
        assert len(house.servers[0].asked_at) < 20


@pytest.mark.shows("A7", "X5")
@in_virtual_time
async def test_a_model_that_thinks_is_there_and_is_not_overtaken(tmp_path: Path) -> None:
    async with a_house(tmp_path) as house:
        house.servers[0].script = ["thinks:30"]
        await house.answered("Tell me number 1.")
        assert house.said == ["One moment.", *SLOW, "Answer 1."], "thinking is no sound"
        assert [len(each.asked_at) for each in house.servers] == [1, 0]


@pytest.mark.shows("A7", "B8", "X5")
@in_virtual_time
async def test_who_speaks_while_another_is_waited_for_hears_a_sign_too(tmp_path: Path) -> None:
    async with a_house(tmp_path, models=1) as house:
        house.servers[0].script = ["late:50"]
        await house.hears("Tell me number 1.")
        await passed(10)
        second = await house.hears("Tell me number 2.")
        await house.rests()
        assert house.said == ["One moment.", "One moment.", *SLOW, "Answer 1.", "Answer 2."]
        sign = next(at for event_id, at in house.mind.outlet.heard_at if event_id == second.id)
        assert sign - EPOCH == pytest.approx(12.0, abs=0.1), "two seconds after it was said"


@pytest.mark.shows("B1", "A11", "X5")
@in_virtual_time
async def test_new_words_come_before_an_old_question_that_a_silent_model_is_tried_with(tmp_path: Path) -> None:
    async with a_house(tmp_path, models=1) as house:
        server = house.servers[0]
        server.script = ["5xx"] * 9
        old = await house.answered("Tell me number 1.")
        assert (await state(house, old))[0] == "suspended"
        server.script = ["silence"]
        while server.script:
            await passed(1)
        asked = server.asked_at[-1]
        await passed(3)
        server.script = []
        await house.answered("Tell me number 2.")
        assert "Answer 2." in house.said
        assert house.mind.outlet.heard_at[-1][1] - asked < 10
        await passed(120)
        assert house.said[-1] == "Answer 1."
        assert (await state(house, old))[0] == "completed"


@pytest.mark.shows("B1", "B8", "A7", "X5")
def test_each_of_many_questions_to_failing_servers_is_answered_once_and_none_meets_silence(tmp_path: Path) -> None:
    async def story() -> None:
        async with a_house(tmp_path, seed=7) as house:
            account = await go_through(house, 60, 0.5, Random(7))
        assert account.wrong == []
        assert account.p95 <= 2.5
        assert account.since_arrival[-1] <= 5.0, "also behind another, as in benchmarks/model/failing_server.py"

    run_virtually(story())


@pytest.mark.parametrize(
    "words",
    [
        *("Never mind.", "nevermind", "Oh, never mind that.", "Forget the question.", "Please forget my question."),
        *("You don't have to answer that anymore.", "Don't bother.", "Nakari, never mind!", "Forget about it."),
        *("算了。", "算了吧", "不用回答了", "别管那个问题了", "忘了那个问题吧", "不用了"),
    ],
)
def test_words_that_drop_a_question(words: str) -> None:
    assert drops_questions(words)


@pytest.mark.parametrize(
    "words",
    [
        *("Forget that.", "Never mind the gap, how long is it?", "I do not mind.", "Cancel the timer.", "Stop."),
        *("What did I forget?", "算一下三加五", "不用的东西放哪", "忘了刚才的话", "取消计时器", ""),
    ],
)
def test_words_that_drop_nothing(words: str) -> None:
    assert not drops_questions(words)


@pytest.mark.shows("B1", "X5")
@in_virtual_time
async def test_a_question_that_waits_can_be_cancelled_in_the_mailbox(tmp_path: Path) -> None:
    async with a_house(tmp_path, models=1) as house:
        house.servers[0].script = ["400"]
        event = await house.answered("Tell me number 1.")
        assert await house.mind.mailbox.withdraw(event.id, "by command")
        await passed(7200)
        assert house.said == REFUSED


@pytest.mark.shows("A7", "G1", "X5")
async def test_the_sign_may_be_a_sound_and_comes_once() -> None:
    outlet, played = RecordingOutlet(), [0]

    async def play() -> None:
        played[0] += 1

    replies = SystemReplies(outlet, RunState(), play)
    event = spoken("Tell me.")
    await replies.sign(event)
    await replies.sign(event)
    await replies.fill(event)
    await replies.sign(typed("Tell me."))
    assert (played, outlet.said) == ([1], [])


@pytest.mark.shows("B1", "X5")
@in_virtual_time
async def test_without_any_model_configured_the_offline_word_ends_the_event(tmp_path: Path) -> None:
    async with a_house(tmp_path, models=0) as house:
        event = await house.answered("Tell me number 1.")
        assert house.said[0].startswith("I heard you, but I need a model")
        assert await state(house, event) == ("completed", "")


@pytest.mark.shows("B1", "G13", "X5")
@in_virtual_time
async def test_in_quiet_hours_a_question_is_answered_once_its_person_speaks_again(tmp_path: Path) -> None:
    quiet = QuietHours(time(12), time(7), UTC)
    async with a_house(tmp_path, models=1, quiet=quiet) as house:
        house.servers[0].script = ["429:60"]
        await house.answered("Tell me number 1.")
        await passed(1800)
        assert house.said == FULL
        await house.answered("What time is it?")
        await house.rests()
        assert house.said[3:] == ["Answer 1."]
