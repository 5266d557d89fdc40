"""The offline model as a model like any other: lazy, deterministic, and never at a loss."""

import asyncio
import gc
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from types import FunctionType, ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.context.block import Block, render
from agent.intents.model import OfflineModel
from agent.model.interface import ChatModel
from agent.model.messages import Message, ToolCall, ToolSpec
from agent.model.wire.openai import GrowingList
from agent.tools.events import ENDINGS
from tests.agent.clock import MORNING
from tests.agent.offline_talk import BERLIN, OFFLINE, SPECS, TOOLS, Talk, a_timer, whole
from tests.agent.wire_form import wire_form


async def answered(model: ChatModel, messages: Sequence[Message], tools: Sequence[ToolSpec] = SPECS) -> Message:
    return whole([item async for item in model.stream(messages, tools)])


def asked(words: str, event_id: str = "e1") -> Message:
    return Message(
        "user", render(Block(event_id, "asr_transcript", "mic", words, True, 10, MORNING, {"Timezone": BERLIN}))
    )


@pytest.mark.shows("H9")
def test_importing_it_imports_nothing_heavy() -> None:
    names = "hassil home_assistant_intents yaml unicode_rbnf pint simpleeval snowballstemmer text_to_num"
    code = f"import sys, agent.intents, agent.intents.language.grammar; print(set({names.split()}) & set(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30)
    assert ran.stdout.strip() == "set()"


async def test_it_is_named_and_closed_twice() -> None:
    model: ChatModel = OfflineModel()
    assert model.name == "offline"
    await model.warm()
    await model.warm()
    await model.aclose()
    await model.aclose()


@pytest.mark.shows("V30")
async def test_it_answers_without_having_been_warmed() -> None:
    message = await answered(OfflineModel(), [asked("What time is it?")])
    assert [call.name for call in message.tool_calls] == ["reply", "complete_event"]


def strings_kept(*roots: object) -> Iterator[str]:
    """Yield what is written in these objects and in what they hold; not in code, which holds the whole program."""
    seen: set[int] = set()
    waiting = [*roots]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif id(each) not in seen and not isinstance(each, type | ModuleType | FunctionType):
            seen.add(id(each))
            waiting += gc.get_referents(each)


@pytest.mark.shows("V29")
async def test_words_are_kept_for_the_steps_of_their_event_and_no_longer() -> None:
    """Each step reads them again; what is forgotten stays nowhere."""
    model = OfflineModel()

    def are_kept() -> bool:
        return any("quagga" in each for each in strings_kept(model))

    talk = Talk(model)
    talk.hear("set a quagga timer for seven minutes")
    await talk.calls({"id": "t1"})
    assert are_kept()
    await talk.says()
    assert not are_kept()

    talk.hear("set a quagga timer for seven minutes")
    await talk.calls({"id": "t1"})  # and there it is broken off
    talk.hear("what time is it")
    await talk.says()
    assert not are_kept()


async def test_warming_and_the_first_question_may_come_together() -> None:
    model = OfflineModel()
    async with asyncio.TaskGroup() as group:
        group.create_task(model.warm())
        first = group.create_task(answered(model, [asked("What time is it?")]))
    assert first.result().tool_calls


async def test_it_loads_beside_the_event_loop() -> None:
    loop = asyncio.get_running_loop()
    beats = 0

    def beat() -> None:
        nonlocal beats
        beats += 1
        loop.call_soon(beat)

    beat()
    await answered(OfflineModel(), [asked("Set a timer for five minutes.")])
    assert beats > 10


async def test_the_same_list_gives_the_same_answer() -> None:
    messages = [asked("Set a timer for five minutes.")]
    assert await answered(OfflineModel(), messages) == await answered(OfflineModel(), messages)


async def test_ids_of_calls_are_never_given_twice(talk: Talk) -> None:
    for _ in range(3):
        talk.hear("Set a timer for five minutes.")
        await talk.calls(a_timer("5 minutes", "5 minutes"))
        await talk.says()
    ids = [call.id for message in talk.messages for call in message.tool_calls]
    assert len(ids) == 9
    assert len(set(ids)) == 9
    assert all(len(id_) <= 40 for id_ in ids)


async def test_what_it_writes_any_provider_takes_back(talk: Talk) -> None:
    talk.hear("记住我的钥匙在“抽屉”里\\")
    await talk.calls({"id": "e2"})
    await talk.says()
    talk.hear("我的钥匙在哪？")
    await talk.calls(
        [{"when": "2026-11-20 10:00:00 UTC", "who": "mic", "words": "记住我的钥匙在“抽屉”里\\"}],
        "nothing",
        "nothing",
    )
    await talk.says()
    talk.hear("Thank you.")
    wire_form(talk.messages)


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [Message("system", "You are nakari.")],
        [Message("assistant", "Hello.")],
        [Message("user", "")],
        [Message("user", "<Context><Event id='1' budget='many'/></Context>")],
        [Message("user", "<Context><Current_Time>0001-01-01T00:00:00+23:00</Current_Time><Event/></Context>")],
        [Message("user", "What came before, in short:\nnothing")],
        [asked("set a timer for five minutes"), Message("tool", "[" * 100_000, tool_call_id="none")],
        [asked("set a timer for one minute"), Message("assistant", tool_calls=(ToolCall("1", "set_timer", "{"),))],
        [asked("where are my keys"), Message("assistant", tool_calls=(ToolCall("1", "reply", "[" * 100_000),))],
        [asked("what is the " * 30)],
        [asked("(a|b) [c] {d} <e> \\ % $ *")],
    ],
)
@pytest.mark.parametrize("tools", [SPECS, TOOLS.specs_for(""), ()])
async def test_it_has_an_answer_to_anything(messages: list[Message], tools: tuple[ToolSpec, ...]) -> None:
    message = await answered(OFFLINE, messages, tools)
    assert message.content or message.tool_calls


@pytest.mark.parametrize(
    ("words", "tools"),
    [("remember that " + "my keys and " * 6000, SPECS), ("x" * 64_000, TOOLS.specs_for("")), ("我" * 64_000, ())],
    ids=["a list", "a word", "a Chinese one"],
)
async def test_it_has_an_answer_to_as_much_as_a_page(words: str, tools: tuple[ToolSpec, ...]) -> None:
    """By one list of tools each: reading them is what takes long, and is the same whatever tools there are."""
    await test_it_has_an_answer_to_anything([asked(words)], tools)


async def test_words_that_are_no_block_are_taken_as_a_persons() -> None:
    message = await answered(OFFLINE, [Message("user", "Who are you?")])
    assert "I am nakari" in message.tool_calls[0].arguments


async def test_where_nobody_spoke_it_speaks_the_language_it_was_given() -> None:
    timer = Block("e1", "timer", "timer", "Timer 'tea' (3 minutes) is due.", False, 10, MORNING)
    message = await answered(OfflineModel("zh"), [Message("user", render(timer))])
    assert json.loads(message.tool_calls[0].arguments)["text"] == "时间到了：tea。"


SAID = (
    "set a timer for remind me to at in five minutes my the keys where is remember that what cancel all volume up to "
    "ten yes no tomorrow o'clock half past wake : 7 30 , . ? ' "
    "记住 我的 钥匙 在 哪 五 分钟 后 提醒 我 点 设 一个 闹钟"
)
WORDS = st.text(max_size=40) | st.lists(st.sampled_from(SAID.split()), max_size=14).map(" ".join)
BLOCKS = st.builds(
    Block,
    event_id=st.text("ab", max_size=2),
    event_type=st.sampled_from(["asr_transcript", "timer", "self_created", ""]),
    source=st.just("mic"),
    words=WORDS,
    is_human=st.booleans(),
    budget=st.integers(0, 10),
    time=st.none() | st.datetimes().map(lambda moment: moment.replace(tzinfo=MORNING.tzinfo)),
    situation=st.dictionaries(
        st.sampled_from(["Timezone", "Waited_Seconds", "Late_Seconds", "Note"]),
        st.sampled_from(["", "UTC (UTC+00:00)", "X (UTC-23:59)", "9" * 30, "12", "-5", "٣"]),
    ),
    evidence=st.dictionaries(st.just("confidence"), st.sampled_from(["low", "normal"])),
).map(lambda block: Message("user", render(block)))
RESULTS = st.sampled_from(
    ["delivered", "completed", "error: no", "unknown: the machine stopped", "refused: no", "interrupted: x", "", "[]",
     "{}", "[1]", '[{"id": null}]', '[{"id": "1", "left": 3, "due": "2026-13-45 99:99"}]', '{"cancelled": []}',
     '[{"words": "remember that my keys are here", "when": 3}]', '[{"words": null}]', "null"]
)  # fmt: skip
CALLS = st.builds(
    ToolCall,
    id=st.sampled_from("abc"),
    name=st.sampled_from([spec.name for spec in SPECS]),
    arguments=st.sampled_from(["", "{}", "{", '{"text": "It is "}', '{"text": 3}', "[]"]),
)
MESSAGES = st.one_of(
    BLOCKS,
    st.builds(Message, st.just("tool"), RESULTS, tool_call_id=st.sampled_from("abc")),
    st.builds(Message, st.just("assistant"), st.text(max_size=5), st.lists(CALLS, max_size=2).map(tuple)),
    st.builds(Message, st.sampled_from(["user", "system"]), st.text(max_size=20)),
)


@pytest.mark.shows("V30", "B1")
@settings(max_examples=300)
@given(st.lists(MESSAGES, max_size=8), st.sets(st.sampled_from([spec.name for spec in SPECS])))
def test_it_answers_any_list_of_messages_with_any_tools(messages: list[Message], missing: set[str]) -> None:
    """Lists that no provider would take, too; it calls only tools that are there, with arguments that they take."""
    tools = [spec for spec in SPECS if spec.name not in missing]
    message = asyncio.run(answered(OFFLINE, messages, tools))
    assert message.content or message.tool_calls
    assert {call.name for call in message.tool_calls} <= {spec.name for spec in tools}
    assert len({call.id for call in message.tool_calls}) == len(message.tool_calls)
    for call in message.tool_calls:
        called = TOOLS.find(call.name)
        assert called is not None
        called.arguments.model_validate_json(call.arguments)


MOST_ROUNDS = 5
"""Answers to one event, whatever its tools give."""

MOST_CALLS = 9
"""Calls of one answer: eight timers cancelled, or a reply and an ending."""


@pytest.mark.shows("V30", "B1", "B7")
@settings(max_examples=60)
@given(st.lists(st.tuples(BLOCKS, st.lists(RESULTS, min_size=MOST_CALLS)), min_size=1, max_size=4))
def test_every_event_ends_whatever_its_tools_answer(events: list[tuple[Message, list[str]]]) -> None:
    """And a real model could take the conversation over at any point: the list stays legal."""

    async def converse() -> None:
        messages, growing = [Message("system", "s")], GrowingList()
        for handed_over, results in events:
            messages.append(handed_over)
            for _ in range(MOST_ROUNDS):
                answer = await answered(OFFLINE, messages)
                told = zip(answer.tool_calls, results, strict=False)
                messages += [answer, *(Message("tool", text, tool_call_id=call.id) for call, text in told)]
                growing.update([*messages, Message("user", "and?")])
                if {call.name for call in answer.tool_calls} & ENDINGS:
                    break
            else:
                raise AssertionError(f"no end: {messages}")

    asyncio.run(converse())
