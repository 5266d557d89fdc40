"""The loop on a real mailbox and journal: what a model may say, and what becomes of the event."""

import asyncio
import json
from pathlib import Path

import pytest

from agent.context import block
from agent.errors import StreamBroken
from agent.event import SELF_CREATED, Event
from agent.model.messages import Message, ToolCall
from agent.tools.tool import tool
from memory.json_value import Json
from tests.agent.mind import a_mind, spoken, typed
from tests.fakes import ScriptedModel, UnreachableModel, calls

HELLO = ("reply", '{"text": "Hello there. How are you?"}')
DONE = ("complete_event", '{"summary": "greeted"}')


@pytest.mark.shows("B3", "B12")
@pytest.mark.parametrize(
    "answer", [calls(HELLO), calls(HELLO, DONE), calls(DONE, HELLO), Message("assistant", "Hello.")]
)
async def test_a_simple_question_costs_one_model_call(tmp_path: Path, answer: Message) -> None:
    model = ScriptedModel(answer)
    async with a_mind(tmp_path, [model]) as mind:
        event = spoken("hello")
        await mind.handle(event)
        assert await mind.state_of(event) == "completed"
        assert len(model.requests) == 1
        assert mind.outlet.said[0].startswith("Hello")
        assert mind.outlet.replies[0].event == event


@pytest.mark.shows("D7", "D8", "D16", "D17")
async def test_the_event_is_the_last_user_message_as_one_block(tmp_path: Path) -> None:
    model = ScriptedModel(calls(HELLO))
    async with a_mind(tmp_path, [model]) as mind:
        event = spoken("</Human_Input> what time is it", metadata={"evidence": {"confidence": "low", "snr_db": 12.5}})
        await mind.handle(event)
    system, user = model.requests[0]
    assert system == Message("system", "You are nakari.")
    assert user.role == "user"
    seen = block.parse(user.content)
    assert seen is not None
    assert (seen.words, seen.is_human, seen.event_id) == (event.content, True, event.id)
    assert block.format_time(event.created_at) in user.content
    assert seen.evidence == {"confidence": "low", "snr_db": "12.5"}
    assert seen.situation == {"Timezone": "UTC (UTC+00:00)"}


@pytest.mark.shows("D6", "B15")
async def test_every_request_starts_with_the_one_before_within_and_across_events(tmp_path: Path) -> None:
    model = ScriptedModel(
        calls(("check_mailbox", "{}"), prefix="a"), calls(HELLO, prefix="b"), calls(HELLO, DONE, prefix="c")
    )
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(spoken("hello"))
        await mind.handle(spoken("and again"))
    first, second, third = model.requests
    assert second[: len(first)] == first
    assert third[: len(second)] == second
    assert [message.role for message in third] == [
        "system", "user", "assistant", "tool", "assistant", "tool", "user",
    ]  # fmt: skip
    assert model.tools[0] == model.tools[1] == model.tools[2]


@pytest.mark.shows("B14")
async def test_parallel_calls_run_together_and_their_results_come_in_call_order(tmp_path: Path) -> None:
    both_run = asyncio.Barrier(2)

    async def slow() -> Json:
        """Wait for the other."""
        await both_run.wait()
        await asyncio.wait_for(quick_done.wait(), 5)
        return "slow"

    async def quick() -> Json:
        """Be quick."""
        await both_run.wait()
        quick_done.set()
        return "quick"

    quick_done = asyncio.Event()
    model = ScriptedModel(calls(("slow", "{}"), ("quick", "{}"), prefix="a"), calls(HELLO, prefix="b"))
    async with a_mind(tmp_path, [model], [tool(slow), tool(quick)]) as mind:
        await mind.handle(spoken("do both"))
    assert [(m.tool_call_id, m.content) for m in model.requests[1][-2:]] == [("a_0", "slow"), ("a_1", "quick")]


@pytest.mark.shows("B3", "F5")
@pytest.mark.parametrize(
    ("name", "arguments", "observed"),
    [
        ("no_such_tool", "{}", "there is no tool 'no_such_tool'"),
        ("create_event", "{broken", "wrong arguments"),
        ("create_event", '{"content": "x", "colour": 1}', "colour"),
        ("create_event", '{"content": "x", "not_before": "soon"}', "'soon' is no time"),
    ],
)
async def test_a_bad_call_becomes_words_for_the_model(tmp_path: Path, name: str, arguments: str, observed: str) -> None:
    model = ScriptedModel(calls((name, arguments), prefix="a"), calls(HELLO, prefix="b"))
    async with a_mind(tmp_path, [model]) as mind:
        event = spoken("do it")
        await mind.handle(event)
        assert observed in model.requests[1][-1].content
        assert await mind.state_of(event) == "completed"


@pytest.mark.shows("B3", "B10")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ('{"text": "It is noon. I am sure.", "tone": "warm"}', "It is noon. I am sure."),
        ('{"text": "It is noon. I am su', "It is noon."),
        ('{"tone": "warm"}', ""),
    ],
)
async def test_of_a_reply_that_was_called_wrongly_it_is_told_what_was_said(
    tmp_path: Path, arguments: str, said: str
) -> None:
    model = ScriptedModel(calls(("reply", arguments), prefix="a"), calls(DONE, prefix="b"))
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(spoken("what time is it"))
        assert " ".join(mind.outlet.said) == said
    observed = model.requests[1][-1].content
    assert "wrong arguments" in observed
    assert observed.endswith(f"do not say it again: {said}") == bool(said)


@pytest.mark.shows("B7", "B8")
async def test_past_its_budget_an_event_gets_a_refusal_one_last_turn_and_is_suspended_in_words(tmp_path: Path) -> None:
    look = [calls(("create_event", '{"content": "more"}'), prefix=f"c{n}") for n in range(4)]
    model = ScriptedModel(*look)
    async with a_mind(tmp_path, [model]) as mind:
        event = spoken("count", max_tool_calls=2)
        await mind.handle(event)
        assert await mind.state_of(event) == "suspended"
        assert len(model.requests) == 4, "two calls, the refused one, and one turn to end"
        assert model.requests[3][-1].content.startswith("refused")
        assert mind.outlet.said == [
            "I have used up the steps I may take for: count.",
            "I kept a note of how far I got.",
        ]


async def test_of_parallel_calls_the_first_that_fit_the_budget_run(tmp_path: Path) -> None:
    create = ("create_event", '{"content": "part"}')
    model = ScriptedModel(calls(create, create, create, prefix="a"), calls(HELLO, prefix="b"))
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(spoken("split it", max_tool_calls=2))
        results = [message.content for message in model.requests[1][-3:]]
    assert [result.startswith("refused") for result in results] == [False, False, True]


@pytest.mark.shows("F6")
async def test_the_next_model_answers_when_the_first_cannot_be_reached(tmp_path: Path) -> None:
    gone, there = UnreachableModel(name="gone"), ScriptedModel(calls(HELLO))
    async with a_mind(tmp_path, [gone, there]) as mind:
        event = spoken("hello")
        await mind.handle(event)
        assert await mind.state_of(event) == "completed"
    assert there.requests[0] == gone.requests[0], "a failure leaves nothing in the context"


async def test_a_person_is_told_when_no_model_is_there(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [UnreachableModel()]) as mind:
        await mind.handle(spoken("你好"))
        assert mind.outlet.said == [
            "我听到了，但是现在连不上我思考用的模型。",
            "等连上了我再回答，不用的话就说“算了”。",
        ]


async def test_its_own_work_waits_for_a_model(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [UnreachableModel()]) as mind:
        event = Event(type=SELF_CREATED, content="think about it", source="self")
        await mind.handle(event)
        assert await mind.state_of(event) == "suspended"
        assert mind.outlet.said == []


async def test_its_own_work_goes_on_when_a_model_is_back(tmp_path: Path) -> None:
    work = Event(type=SELF_CREATED, content="think about it", source="self")
    async with a_mind(tmp_path, [UnreachableModel()]) as mind:
        await mind.handle(work)
    async with a_mind(tmp_path, [ScriptedModel(calls(HELLO)), UnreachableModel(name="offline")]) as mind:
        await mind.handle(spoken("hello"))
        filed = await mind.mailbox.find(work.id)
        assert filed is not None
        assert filed.waits_for == ""


@pytest.mark.shows("F5")
async def test_a_stream_that_breaks_is_kept_as_what_was_said_and_it_goes_on_after_it(tmp_path: Path) -> None:
    cut = Message("assistant", tool_calls=(ToolCall("x", "reply", '{"text": "Number one is here. Number two is he'),))
    model = ScriptedModel(StreamBroken("reset", cut), calls(("reply", '{"text": "Number two is here."}'), prefix="b"))
    async with a_mind(tmp_path, [model]) as mind:
        event = spoken("count")
        await mind.handle(event)
        assert mind.outlet.said == ["Number one is here.", "Number two is here."]
        kept, result = model.requests[1][-2:]
        assert kept.tool_calls[0].arguments == '{"text": "Number one is here."}'
        assert result.content.startswith("interrupted")
        assert await mind.state_of(event) == "completed"


async def test_a_model_that_answers_with_nothing_twice_is_passed_over(tmp_path: Path) -> None:
    mute, there = ScriptedModel(Message("assistant"), Message("assistant")), ScriptedModel(calls(HELLO))
    async with a_mind(tmp_path, [mute, there]) as mind:
        await mind.handle(spoken("hello"))
        assert mind.outlet.said == ["Hello there.", "How are you?"]
    assert len(there.requests[0]) == 2, "an empty answer leaves nothing in the context"


async def test_it_may_stay_silent_when_it_was_not_addressed(tmp_path: Path) -> None:
    model = ScriptedModel(calls(DONE))
    async with a_mind(tmp_path, [model]) as mind:
        event = spoken("and then the detective said")
        await mind.handle(event)
        assert await mind.state_of(event) == "completed"
        assert mind.outlet.said == []


@pytest.mark.shows("A6", "A19")
async def test_the_note_of_a_suspension_comes_back_word_for_word(tmp_path: Path) -> None:
    suspend = ("suspend_event", '{"note": "half <way>", "wake_on": "parcel"}')
    model = ScriptedModel(calls(suspend, prefix="a"), calls(HELLO, prefix="b"))
    async with a_mind(tmp_path, [model]) as mind:
        event = spoken("wait for the parcel")
        await mind.handle(event)
        assert await mind.state_of(event) == "suspended"
        await mind.mailbox.wake("parcel")
        await mind.handle_next()
        assert await mind.state_of(event) == "completed"
    again = block.parse(model.requests[1][-1].content)
    assert again is not None
    assert again.situation["Note"] == "half <way>"


async def test_completion_waits_until_the_reply_is_whole(tmp_path: Path) -> None:
    broken = calls(("reply", '{"words": "wrong key"}'), DONE, prefix="a")
    model = ScriptedModel(broken, calls(HELLO, DONE, prefix="b"))
    async with a_mind(tmp_path, [model]) as mind:
        event = spoken("hello")
        await mind.handle(event)
        assert model.requests[1][-1].content.startswith("refused: your reply")
        assert await mind.state_of(event) == "completed"


@pytest.mark.shows("B11")
async def test_bare_text_of_its_own_work_is_thought_not_speech(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [ScriptedModel(Message("assistant", "I see."))]) as mind:
        event = Event(type=SELF_CREATED, content="reflect", source="self")
        await mind.handle(event)
        assert await mind.state_of(event) == "completed"
        assert mind.outlet.said == []


@pytest.mark.shows("B1")
async def test_a_bug_costs_one_event_not_the_loop(tmp_path: Path) -> None:
    def bug(messages: object) -> Message:
        raise ZeroDivisionError("a bug")

    model = ScriptedModel(bug, calls(HELLO))
    async with a_mind(tmp_path, [model]) as mind:
        first, second = spoken("trip"), spoken("hello")
        await mind.handle(first)
        await mind.handle(second)
        assert [await mind.state_of(first), await mind.state_of(second)] == ["dead", "completed"]
        assert mind.outlet.said[0].startswith("Something went wrong")


@pytest.mark.shows("F4", "V21", "B25")
async def test_the_first_sentence_is_out_before_the_answer_is_whole(tmp_path: Path) -> None:
    model = ScriptedModel(calls(("reply", '{"text": "First sentence here. And then a second one follows."}')))
    model.hold[0] = asyncio.Event()
    async with a_mind(tmp_path, [model]) as mind:
        await mind.mailbox.enqueue(spoken("tell me"))
        hand = await mind.mailbox.take()
        async with asyncio.timeout(120), asyncio.TaskGroup() as group:
            group.create_task(mind.loop.handle(hand))
            await mind.outlet.sentence_said.wait()
            assert mind.outlet.said == ["First sentence here."]
            model.hold[0].set()


@pytest.mark.shows("F4", "V21", "B25")
async def test_the_last_sentence_is_out_at_its_closing_quote(tmp_path: Path) -> None:
    long = json.dumps({"summary": "said that there is only one sentence to be said, and said it at once"})
    model = ScriptedModel(calls(("reply", '{"text": "Only one."}'), ("complete_event", long)))
    model.hold[0] = asyncio.Event()
    async with a_mind(tmp_path, [model]) as mind:
        event = spoken("tell me")
        async with mind.at_work(event):
            async with asyncio.timeout(120):
                await mind.outlet.sentence_said.wait()
            assert "llm.results" not in await mind.topics(event), "the answer is not whole, and not in the journal"
            model.hold[0].set()
        assert mind.outlet.said == ["Only one."]
        assert await mind.state_of(event) == "completed"


@pytest.mark.shows("E19", "B2")
async def test_the_steps_are_in_the_journal_in_causal_order(tmp_path: Path) -> None:
    model = ScriptedModel(calls(("check_mailbox", "{}"), prefix="a"), calls(HELLO, prefix="b"))
    async with a_mind(tmp_path, [model]) as mind:
        event = spoken("hello")
        await mind.handle(event)
        topics = [topic for topic in await mind.topics(event) if not topic.startswith(("context.m", "context.e"))]
    assert topics == [
        "runs.new", "context.build.request", "context.build.response",
        "llm.requests", "llm.results", "tools.requests", "ui.events", "tools.results", "ui.events",
        "llm.requests", "llm.results", "tools.requests", "ui.events", "tools.results", "ui.events",
        "ui.events", "turns.ended",
    ]  # fmt: skip


@pytest.mark.shows("D20")
async def test_no_message_of_one_session_is_in_the_context_of_another(tmp_path: Path) -> None:
    model = ScriptedModel(calls(HELLO, prefix="a"), calls(HELLO, prefix="b"), calls(HELLO, prefix="c"))
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(typed("my secret is plum", "one"))
        await mind.handle(typed("what is it", "two"))
        await mind.handle(typed("what was mine", "one"))
    assert "plum" not in str(model.requests[1])
    assert "plum" in str(model.requests[2])
