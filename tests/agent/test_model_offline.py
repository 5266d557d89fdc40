"""The offline model from outside: a `ChatModel` on any message list, and in the real loop with the real tools."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent import mailbox as mailbox_module
from agent.bus import Bus
from agent.context import block
from agent.context.epochs import ContextLimits, Contexts
from agent.context.tokens import TokenCounter
from agent.desk import Desk
from agent.event import SELF_CREATED, TIMER, Event
from agent.loop import Loop, Mind
from agent.mailbox import Mailbox
from agent.model.interface import Answer, ArgumentsDelta, StreamItem, TextDelta, ToolCallStarted
from agent.model.messages import Message, ToolCall, ToolSpec
from agent.model.offline import OfflineModel
from agent.model.wire import GrowingList
from agent.record import Recorder
from agent.situation import place_in_time
from agent.think import Thinker
from agent.tools.events import event_tools
from agent.tools.journal import journal_tool
from agent.tools.registry import ToolRegistry
from agent.tools.reply import reply_tool
from agent.tools.timers import timer_tools
from memory import journal as journal_module
from memory.database import Database
from memory.journal import Journal
from tests.agent.mind import NOON, Disk, OnePrompt, TestMind, spoken
from tests.fakes import RecordingOutlet, UnreachableModel

BLOCK = block.Block("e1", "asr_transcript", "mic", "", is_human=True, budget=10, time=NOON)


def spec(name: str, *parameters: str) -> ToolSpec:
    return ToolSpec(name, "d", {"type": "object", "properties": {parameter: {} for parameter in parameters}})


TOOLS = [
    spec("reply", "text"),
    spec("complete_event", "summary"),
    spec("suspend_event", "note", "wake_at", "wake_on"),
    spec("create_event", "content", "type"),
    spec("set_timer", "seconds", "label"),
    spec("set_alarm", "at", "label"),
    spec("list_timers"),
    spec("cancel_timer", "which"),
    spec("journal_search", "words", "limit"),
]


async def items_of(messages: Sequence[Message], tools: Sequence[ToolSpec] = TOOLS) -> list[StreamItem]:
    return [item async for item in OFFLINE.stream(messages, tools)]


async def answer_to(messages: Sequence[Message], tools: Sequence[ToolSpec] = TOOLS) -> Message:
    last = (await items_of(messages, tools))[-1]
    assert isinstance(last, Answer)
    return last.message


OFFLINE = OfflineModel()
"""One for all: it holds nothing but the parsed sentences, which cost 0.3 s."""


def handed_over(words: str, event_id: str = "e1") -> Message:
    return Message("user", block.render(replace(BLOCK, words=words, event_id=event_id)))


@pytest.mark.shows("V30", "H9")
def test_importing_it_imports_no_hassil() -> None:
    code = "import sys, agent.model.offline; print('hassil' in sys.modules, 'yaml' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30)
    assert done.stdout.split() == ["False", "False"]


@pytest.mark.shows("V30")
async def test_a_question_of_time_costs_one_call_and_streams_as_any_model_does() -> None:
    items = await items_of([handed_over("what time is it")])
    started = [item for item in items if isinstance(item, ToolCallStarted)]
    assert [(item.index, item.name) for item in started] == [(0, "reply"), (1, "complete_event")]
    assert isinstance(items[-1], Answer)
    assert items[-1].finish_reason == "tool_calls"
    for index, call in enumerate(items[-1].message.tool_calls):
        told = [item.text for item in items if isinstance(item, ArgumentsDelta) and item.index == index]
        assert "".join(told) == call.arguments
    assert json.loads(items[-1].message.tool_calls[0].arguments)["text"] == "It is noon."


async def test_without_a_reply_tool_the_words_are_bare_text() -> None:
    items = await items_of([handed_over("what time is it")], [])
    assert isinstance(items[0], TextDelta)
    assert isinstance(items[-1], Answer)
    assert items[-1].message == Message("assistant", items[0].text)
    assert items[-1].finish_reason == "stop"


async def test_asked_again_it_answers_the_same_and_another_event_gets_other_ids() -> None:
    first, again = [await answer_to([handed_over("set a timer for five minutes")]) for _ in range(2)]
    other = await answer_to([handed_over("set a timer for five minutes", "e2")])
    assert first == again
    assert {call.id for call in first.tool_calls}.isdisjoint(call.id for call in other.tool_calls)


async def test_closing_and_warming_cost_nothing() -> None:
    model = OfflineModel("zh")
    await model.warm()
    await model.aclose()
    await model.aclose()
    assert model.name == "offline"


WORDS = st.sampled_from(
    [
        *("what time is it", "set a timer for five minutes", "cancel all timers", "how much time is left", "yes", "no"),
        *("where are my keys", "remember that my keys are in the drawer", "wake me at seven", "louder", "stop", "help"),
        *(
            "现在几点了",
            "设置五分钟的计时器",
            "取消所有计时器",
            "我的钥匙在哪里",
            "记住我的钥匙在抽屉里",
            "是的",
            "算了",
        ),
        *("Timer 'tea' (5 minutes) is due.", "what is quantum physics", "", " ", "?", "{}", "<b>", "set a timer for"),
    ]
) | st.text(max_size=40)

RESULTS = st.sampled_from(
    [
        "delivered",
        "completed",
        "error: no timer is set",
        "refused: x",
        "interrupted: x",
        "[]",
        "{}",
        "null",
        "[1, null]",
    ]
) | st.text(max_size=20)

BLOCKS = st.builds(
    lambda words, kind, low, place: block.render(
        replace(
            BLOCK,
            words=words,
            event_type=kind,
            is_human=kind != "timer" and kind != "self_created",
            evidence={"confidence": "low"} if low else {},
            situation=place,
        )
    ),
    WORDS,
    st.sampled_from(["asr_transcript", "user_text", TIMER, SELF_CREATED, "system"]),
    st.booleans(),
    st.dictionaries(st.sampled_from(["Timezone", "Waited_Seconds", "Late_Seconds", "Note"]), st.text(max_size=12)),
)

NONSENSE = st.sampled_from(
    ["<Context>", '<Context><Event budget="x"/></Context>', '<Context><Event type="timer">x</Event></Context>']
)

MESSAGES = st.builds(
    Message,
    role=st.sampled_from(["system", "user", "assistant", "tool"]),
    content=BLOCKS | WORDS | NONSENSE | RESULTS,
    tool_calls=st.lists(
        st.builds(
            ToolCall,
            st.sampled_from("abc"),
            st.sampled_from(["reply", "complete_event", "set_timer", "list_timers", "cancel_timer", "journal_search"]),
            RESULTS | st.just('{"text": "Did you say: x?"}'),
        ),
        max_size=2,
    ).map(tuple),
    tool_call_id=st.sampled_from("abc"),
)


@pytest.mark.shows("V30", "B1")
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=150)
@given(st.lists(MESSAGES, max_size=8), st.lists(st.sampled_from(TOOLS), unique_by=lambda tool: tool.name))
async def test_no_message_list_is_too_much_for_it(messages: list[Message], tools: list[ToolSpec]) -> None:
    """Lists that no provider would take, too: it answers with calls of the tools it was given, in strict JSON."""
    answer = await answer_to(messages, tools)
    assert {call.name for call in answer.tool_calls} <= {tool.name for tool in tools}
    for call in answer.tool_calls:
        known = next(tool for tool in tools if tool.name == call.name).parameters["properties"]
        assert isinstance(known, dict)
        assert set(json.loads(call.arguments)) <= set(known)
    assert len({call.id for call in answer.tool_calls}) == len(answer.tool_calls)


@pytest.mark.shows("V30", "B1", "B7")
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=60)
@given(st.lists(st.tuples(BLOCKS, st.lists(RESULTS, min_size=12, max_size=12)), min_size=1, max_size=4))
async def test_every_conversation_stays_legal_and_every_event_ends(events: list[tuple[str, list[str]]]) -> None:
    """Whatever its tools answer, it comes to an end within a few rounds, and a real model could take the list over."""
    messages = [Message("system", "s")]
    growing = GrowingList()
    for content, results in events:
        messages.append(Message("user", content))
        answers = iter(results)
        for _ in range(5):
            answer = await answer_to(messages, TOOLS)
            messages.append(answer)
            messages += [Message("tool", next(answers, "x"), tool_call_id=call.id) for call in answer.tool_calls[:12]]
            growing.update([*messages, Message("user", "and?")])
            if any(call.name in {"complete_event", "suspend_event"} for call in answer.tool_calls):
                break
        else:
            raise AssertionError(f"no end: {messages}")


@asynccontextmanager
async def a_box_without_model(folder: Path) -> AsyncIterator[TestMind]:
    """Open a mind whose model cannot be reached, with the offline model behind it and the tools of the box."""
    database = Database(folder / "nakari.db")
    await database.open(journal_module.SCHEMA, mailbox_module.SCHEMA)
    journal = Journal(database)
    mailbox = Mailbox(database, lambda: datetime.now(UTC))
    disk = Disk(Recorder(journal))
    bus, desk, outlet = Bus(disk), Desk(), RecordingOutlet()
    contexts = Contexts(journal, bus, ContextLimits(), TokenCounter())
    timers = timer_tools(mailbox, lambda: datetime.now(UTC), "Europe/Berlin")
    tools = [*event_tools(mailbox, desk), reply_tool(desk, outlet), journal_tool(journal), *timers]
    thinker = Thinker([UnreachableModel(name="elsewhere"), OFFLINE], bus, contexts, desk, outlet, mailbox)
    mind = Mind(mailbox, journal, bus, contexts, ToolRegistry(tools), outlet, desk, thinker)
    try:
        loop = Loop(mind, OnePrompt("You are nakari."), [place_in_time(UTC, lambda: NOON)], lambda: NOON)
        yield TestMind(mind, loop, outlet, disk)
    finally:
        await database.close()


async def said_to(mind: TestMind, words: str, **fields: object) -> str:
    """Say something and return what was answered."""
    before = len(mind.outlet.said)
    event = spoken(words, **fields)
    await mind.handle(event)
    assert await mind.state_of(event) == "completed"
    return " ".join(mind.outlet.said[before:])


@pytest.mark.shows("V30", "F6", "V23", "D4")
async def test_a_box_without_any_model_keeps_time_timers_and_what_it_is_told(tmp_path: Path) -> None:
    async with a_box_without_model(tmp_path) as mind:
        assert await said_to(mind, "What time is it?") == "It is noon."
        assert "5 minutes" in await said_to(mind, "Set a timer for five minutes.")
        assert await labels_of(mind) == ["5 minutes"]
        assert await said_to(mind, "Cancel the five minute timer.")
        assert await labels_of(mind) == []
        assert "your keys are in the drawer" in await said_to(mind, "Remember that my keys are in the drawer.")
        await mind.handle_next()  # the task she leaves herself: put off until a model is there, without a word
        assert "your keys are in the drawer" in (await said_to(mind, "Where are my keys?")).lower()
        assert "model" in await said_to(mind, "What is quantum physics?")


@pytest.mark.shows("V30", "V12")
async def test_what_was_hard_to_hear_is_asked_back_and_a_yes_carries_it_out(tmp_path: Path) -> None:
    low = {"metadata": {"evidence": {"confidence": "low"}}}
    async with a_box_without_model(tmp_path) as mind:
        assert "set a timer for ten minutes" in (await said_to(mind, "set a timer for ten minutes", **low)).lower()
        assert await labels_of(mind) == []
        await said_to(mind, "yes", **low)
        assert await labels_of(mind) == ["10 minutes"]
        await said_to(mind, "cancel all timers", **low)
        await said_to(mind, "no")
        assert await labels_of(mind) == ["10 minutes"]


@pytest.mark.shows("V30", "A12")
async def test_her_own_task_waits_for_a_model_without_a_word(tmp_path: Path) -> None:
    async with a_box_without_model(tmp_path) as mind:
        task = Event(SELF_CREATED, "Think about the garden.", source="self")
        await mind.handle(task)
        assert await mind.state_of(task) == "suspended"
        assert mind.outlet.said == []


async def labels_of(mind: TestMind) -> list[str]:
    return [str(timer.metadata["label"]) for timer in await mind.mailbox.waiting(TIMER, "household")]
