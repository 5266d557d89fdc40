"""Models that write ReAct's steps as plain text: thinking is not said, an action is a call, the answer is words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.model.interface import ArgumentsDelta
from agent.model.messages import ToolSpec
from memory.json_value import Json
from tests.agent.model.test_text_reader import TEXT, Reading, calls_read

pytestmark = pytest.mark.shows("F1", "B12")


def tool(name: str, /, *demanded: str, **properties: Json) -> ToolSpec:
    schema: dict[str, Json] = {"type": "object", "properties": properties, "required": [*demanded]}
    return ToolSpec(name, "Do it.", schema)


TOOLS = [
    tool("reply", "text", text=TEXT),
    tool("complete_event", "summary", summary=TEXT),
    tool("recall", about=TEXT),
]
HELLO = ("reply", '{"text": "Hello there."}')


def read(text: str, size: int = 1) -> tuple[str, list[tuple[str, str]], str]:
    return calls_read(text, TOOLS, size)


@pytest.mark.parametrize(
    "text",
    [
        'Thought: They greet me.\nAction: reply\nAction Input: {"text": "Hello there."}',
        '**Thought:** They greet me.\n**Action:** reply\n**Action Input:** {"text": "Hello there."}',
        '**Thought**: They greet me.\n**Action**: `reply`\n**Action Input**: `{"text": "Hello there."}`',
        '### Thought:\nThey greet me.\n### Action:\nreply\n### Action Input:\n```json\n{"text": "Hello there."}\n```',
        'Thought: They greet me. Action: reply Action Input: {"text": "Hello there."}',
        'Thought: They greet me.\n\nAction: Reply\nAction Input: "Hello there."\n',
        "Thought: They greet me.\nAction: reply\nAction Input: Hello there.",
        "Thought: They greet me.\nAction: reply to the user\nAction Input: Hello there.",
        "Thought: They greet me.\nAction: reply\nHello there.",
        "Thought: They greet me.\nAction: reply[Hello there.]",
        'Thought: They greet me.\nAction: reply("Hello there.")',
        'Thought: They greet me.\nAction:\n```json\n{"action": "reply", "action_input": {"text": "Hello there."}}\n```',
        '思考：They greet me.\n行动：reply\n行动输入：{"text": "Hello there."}',
        "**思考**: They greet me.\n行动: 回复\n行动输入: Hello there.\n观察：好了\n最终答案：完成",
        "Thought: They greet me.\nAction: reply\nAction Input: Hello there.\nObservation: said\nFinal Answer: Hi!",
        'Thought: They greet me.\n<tool_call>{"name": "reply", "arguments": {"text": "Hello there."}}</tool_call>',
        "Thought: They greet me.\nTool: reply\nArguments: Hello there.",
        "THOUGHT: They greet me.\nACTION: reply\nACTION INPUT: Hello there.\nPAUSE",
        "Plan: They greet me.\nAction: reply\nAction Input: Hello there.",
        'Thought: They greet me.\ntool_call: {"name": "reply", "arguments": {"text": "Hello there."}}',
        'Thought: They greet me.\n{"name": "reply", "arguments": {"text": "Hello there."}}',
    ],
)
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_a_step_is_thinking_and_a_call(text: str, size: int) -> None:
    said, calls, thought = read(text, size)
    assert (said, calls, thought.strip()) == ("", [HELLO], "They greet me.")


@pytest.mark.parametrize(
    "text",
    [
        "Thought: They greet me.\nFinal Answer: Hello there.",
        "**Thought**: They greet me.\n\n**Final Answer**: Hello there.",
        "Thought: They greet me.\nAction: None\nFinal Answer: Hello there.",
        "Thought: They greet me.\nAction: greet them\nAction Input: hi\nObservation: ok\nFinal Answer: Hello there.",
        "Thought: They greet me.\nHello there.",
        "思考：打招呼。\n最终答案：Hello there.",
        "Final Answer: Hello there.",
        "回答：Hello there.",
        "Thought: They greet me.\nResponse: Hello there.",
        "思考过程：打招呼\n回复：Hello there.",
        "Reply: Hello there.",
    ],
)
@pytest.mark.parametrize("size", [1, 1000])
def test_only_the_answer_is_said(text: str, size: int) -> None:
    assert read(text, size)[:2] == ("Hello there.", [])


def test_steps_go_on_behind_one_another_and_behind_words() -> None:
    ending = 'Thought: That is all.\nAction: complete_event\nAction Input: {"summary": "greeted"}'
    both = [HELLO, ("complete_event", '{"summary": "greeted"}')]
    assert read(f"Action: reply\nAction Input: Hello there.\n{ending}")[:2] == ("", both)
    assert read(f"Hello there.\n{ending}")[:2] == ("Hello there.", both[1:])
    assert read(f"{ending}\nFinal Answer: Hello there.")[:2] == ("Hello there.", both[1:])


@pytest.mark.parametrize(
    "written",
    [
        "complete_event",
        "complete_event()",
        "complete_event: greeted",
        'complete_event("greeted")',
        'complete_event {"summary": "greeted"}',
        'functions.complete_event({"summary": "greeted"})',
        'print(complete_event(summary="greeted"))',
        'Tool: complete_event\nInput: {"summary": "greeted"}',
        "Action: complete_event\nAction Input: None",
    ],
)
@pytest.mark.parametrize("size", [1, 1000])
def test_the_name_of_a_tool_on_a_line_of_its_own_is_a_call(written: str, size: int) -> None:
    said, calls, _ = read(f"Hello there.\n{written}", size)
    assert (said, [name for name, _ in calls]) == ("Hello there.", ["complete_event"])
    assert ("greeted" in written) == ("greeted" in calls[0][1])


@pytest.mark.parametrize(
    "written",
    [
        '{"reply": {"text": "Hello there."}, "recall": {"about": "tea"}}',
        '{"tool": "reply", "text": "Hello there."}\n{"action": "recall", "about": "tea"}',
        'reply("Hello there.")\nrecall("tea")',
        '{"reply": "Hello there."}\n{"recall": {"about": "tea"}}',
    ],
)
@pytest.mark.parametrize("size", [1, 1000])
def test_an_object_of_calls_is_calls(written: str, size: int) -> None:
    assert read(written, size)[:2] == ("", [HELLO, ("recall", '{"about": "tea"}')])


def test_an_action_without_an_input_is_a_call_where_nothing_is_demanded() -> None:
    assert read("Thought: I look.\nAction: recall\nObservation: tea")[1] == [("recall", "{}")]
    assert read("Thought: I look.\nAction: recall")[1] == [("recall", "{}")]


def test_an_answer_that_only_looks_like_a_step_is_said_also_where_it_is_cut_off() -> None:
    for said in ("Plan: first we bake, then we", "Here it is.\nThought: be kind and"):
        reading = Reading(tools=TOOLS)
        reading.feed(said)
        assert reading.finish("length")[:2] == (f"{said}…", [])


def test_an_action_with_json_is_a_call_whatever_it_names() -> None:
    """The model is told then that there is no such tool."""
    assert read('Thought: I look.\nAction: search\nAction Input: {"for": "tea"}')[:2] == (
        "",
        [("search", '{"for": "tea"}')],
    )


def test_what_is_to_be_spoken_comes_out_of_an_open_action() -> None:
    reading = Reading(tools=TOOLS)
    reading.feed("Thought: They greet me.\nAction: reply\nAction Input: Hello there. How")
    assert "Hello there." in "".join(item.text for item in reading.items if isinstance(item, ArgumentsDelta))


@pytest.mark.parametrize(
    "text",
    [
        "Action: Die Hard.\nComedy: Airplane.",
        "Observation: the sky is blue.",
        "Thought for the day: be kind.",
        "Thoughts: it is a good book.",
        "Plan: first we bake, then we eat.\nThat is all.",
        "Plan: take a Tool: a hammer. The Answer: hit it.",
        "complete_event is the tool that ends it.",
        "Tool: a hammer.\nInput: a nail.",
        "My tools:\nreply: says something\ncomplete_event: ends the event\nrecall: looks it up",
        "分析：天气很好。\n回答：去吧。",
        "Here is a thought for today.\nThought: be kind.",
        "An agent goes on so:\nThought: one thinks.\nAction: one acts.",
        "I had a thought: tea. The action: boil water.",
        "行动胜于言语。",
    ],
)
def test_what_people_are_told_is_said(text: str) -> None:
    assert read(text)[:2] == (text, [])


@given(
    words=st.lists(
        st.sampled_from(
            [
                *(
                    " ",
                    "\n",
                    "`",
                    '"',
                    "Hello. ",
                    "Thought:",
                    "**Thought**:",
                    "Action:",
                    "**Action:** ",
                    "Action Input:",
                ),
                *(
                    "reply",
                    "recall",
                    "walk",
                    "{",
                    '{"text": "x"}',
                    "[",
                    "]",
                    "(",
                    "Observation:",
                    "Final Answer:",
                    "```",
                ),
                *("思考：", "行动：", "观察：", "<tool_call>", "</think>"),
            ]
        ),
        max_size=14,
    ),
    size=st.integers(1, 7),
)
def test_no_cut_matters(words: list[str], size: int) -> None:
    assert read("".join(words), size) == read("".join(words), 10_000)


@pytest.mark.parametrize(
    "text",
    [
        "complete_event. ",
        "complete_event- \n\nIt is done.",
        "complete_event**\n",
        'All is well. *nods* [reply(text="Hello there.")]',
        'Action: [reply(text="Hello there.")]',
    ],
)
def test_a_piece_that_ends_with_a_name_tells_no_more_than_the_whole(text: str) -> None:
    assert read(text, size=1) == read(text, size=1000)
