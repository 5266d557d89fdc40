"""A model's text parted into words, thinking and calls: as early as can be, and nothing that only looks alike."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.model.dialects.dialect import Dialect
from agent.model.interface import ArgumentsDelta, StreamItem, TextDelta, ToolCallStarted
from agent.model.messages import ToolSpec
from agent.model.sight import Sight
from agent.model.stream.accumulate import Accumulator
from agent.model.stream.arguments import unwrapped
from agent.model.wire.profile import GENERIC, INLINE, PROFILES
from memory.json_value import Json
from tests.agent.dialect_corpus import outcome

pytestmark = pytest.mark.shows("F1", "B12")

TEXT: dict[str, Json] = {"type": "string"}
TOOLS = [
    ToolSpec("reply", "Say something.", {"type": "object", "properties": {"text": TEXT}}),
    ToolSpec("recall", "Look it up.", {"type": "object", "properties": {"about": TEXT, "most": {"type": "integer"}}}),
]
REPLY = '<tool_call>\n{"name": "reply", "arguments": {"text": "Hello there. How are you?"}}\n</tool_call>'


class Reading:
    """One answer that comes bit by bit."""

    def __init__(self, dialect: Dialect | None = None, tools: Sequence[ToolSpec] = TOOLS) -> None:
        self.dialect = dialect or Dialect(GENERIC, "m", Sight())
        self.accumulator = Accumulator(frozenset(), tools, self.dialect)
        self.items: list[StreamItem] = []

    def feed(self, text: str) -> list[StreamItem]:
        fresh = list(self.accumulator.feed({"choices": [{"delta": {"content": text}}]}))
        self.items += fresh
        return fresh

    def delta(self, **fields: Json) -> None:
        self.items += self.accumulator.feed({"choices": [{"delta": {**fields}}]})

    def finish(self, reason: str = "stop") -> tuple[str, list[tuple[str, str]], str]:
        self.items += self.accumulator.feed({"choices": [{"delta": {}, "finish_reason": reason}]})
        self.items += self.accumulator.finish()
        return outcome(self.items)

    @property
    def said(self) -> str:
        return "".join(item.text for item in self.items if isinstance(item, TextDelta))


def read(text: str, tools: Sequence[ToolSpec] = TOOLS, size: int = 1) -> tuple[str, list[tuple[str, str]], str]:
    """Return what comes of a text in pieces of a size: what is said, the calls, and what is thought."""
    reading = Reading(tools=tools)
    for start in range(0, len(text), size):
        reading.feed(text[start : start + size])
    return reading.finish()


def calls_read(text: str, tools: Sequence[ToolSpec], size: int = 1) -> tuple[str, list[tuple[str, str]], str]:
    """Return the same with nothing around the words and the arguments."""
    said, calls, thought = read(text, tools, size)
    return said.strip(), [(name, unwrapped(arguments)) for name, arguments in calls], thought


def test_words_before_a_call_are_said_before_the_call_is_known() -> None:
    reading = Reading()
    reading.feed("Let me see. ")
    assert reading.said == "Let me see. "
    reading.feed("One moment.\n<tool")
    assert reading.said == "Let me see. One moment.\n"
    reading.feed("_call>\n{")
    assert reading.said == "Let me see. One moment.\n"


@pytest.mark.parametrize(
    ("before", "pieces"),
    [
        (
            '<tool_call>\n{"name": "reply", "arguments": {"text": "',
            ["Hello there. ", "How are", ' you?"}}\n</tool_call>'],
        ),
        ("<tool_call>\n<function=reply>\n<parameter=text>\n", ["Hello there. ", "How are", " you?\n</parameter>"]),
        ("[reply(text='", ["Hello there. ", "How are", " you?')]"]),
        ('[TOOL_CALLS]reply[ARGS]{"text": "', ["Hello there. ", "How are", ' you?"}']),
        (
            '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>reply<｜tool▁sep｜>{"text": "',
            ["Hello there. ", "How", ' are you?"}'],
        ),
        (
            '<|channel|>commentary to=functions.reply <|constrain|>json<|message|>{"text": "',
            ["Hello there. ", "How are", ' you?"}<|call|>'],
        ),
        ("<tool_call>reply\n<arg_key>text</arg_key>\n<arg_value>", ["Hello there. ", "How are", " you?</arg_value>"]),
        ('{"name": "reply", "parameters": {"text": "', ["Hello there. ", "How are", ' you?"}}']),
        ("{'name': 'reply', 'arguments': {'text': '", ["Hello there. ", "How are", " you?'}}"]),
        ('<|tool_call>call:reply{text:<|"|>', ["Hello there. ", "How are", ' you?<|"|>}<tool_call|><|tool_response>']),
        ("<start_function_call>call:reply{text:<escape>", ["Hello there. ", "How", " are you?<escape>}<end_function_"]),
    ],
)
def test_what_is_to_be_spoken_comes_out_of_an_open_call(before: str, pieces: list[str]) -> None:
    reading = Reading()
    for char in before:
        reading.feed(char)
    assert any(isinstance(item, ToolCallStarted) for item in reading.items)
    first = reading.feed(pieces[0])
    assert "Hello there. " in "".join(item.text for item in first if isinstance(item, ArgumentsDelta))
    for piece in pieces[1:]:
        reading.feed(piece)
    says, calls, _ = reading.finish()
    assert [(name, json.loads(arguments)) for name, arguments in calls] == [
        ("reply", {"text": "Hello there. How are you?"})
    ]
    assert says == ""


def test_what_stands_between_tokens_is_not_escaped() -> None:
    """Gemma 4's notation; whatever stands in one text, and how many calls there are."""
    texts = ('"a\\b" {c}\n', '"')
    written = "".join(f'<|tool_call>call:recall{{about:<|"|>{each}<|"|>}}<tool_call|>' for each in texts)
    expected = [("recall", json.dumps({"about": each}, separators=(",", ":"))) for each in texts]
    assert [read(written, size=size) for size in (1, 3, 1000)] == [("", expected, "")] * 3


def test_arguments_that_are_json_come_byte_for_byte() -> None:
    written = '{ "text" :"caf\\u00e9 \\ud83d\\ude00 \\n" ,\n "more": [1.50, -0, 1E5] }'
    assert read(f'<tool_call>{{"name":"reply","arguments":{written}}}</tool_call>')[1] == [("reply", written)]


def test_an_answer_that_begins_with_the_mark_of_a_call_is_one_whatever_it_names() -> None:
    assert read('<tool_call>{"name": "Reply", "arguments": {"text": "Hi."}}</tool_call>') == (
        "",
        [("reply", '{"text": "Hi."}')],
        "",
    )
    assert read('<tool_call>{"name": "send", "arguments": {"text": "Hi."}}</tool_call>') == (
        "",
        [("send", '{"text": "Hi."}')],
        "",
    )


@pytest.mark.parametrize(
    "written",
    [
        'reply("It\'s ready.")',
        "reply('It\\'s ready.')",
        '```tool_code\nreply("It\'s ready.")\n```',
        'reply( "It\'s ready." )',
        'reply("""It\'s ready.""")',
        "reply(text='''It's ready.''')",
    ],
)
def test_a_text_in_brackets_is_the_one_that_the_tool_demands(written: str) -> None:
    demanding = ToolSpec("reply", "Say.", {"type": "object", "properties": {"text": TEXT}, "required": ["text"]})
    says, calls, _ = read(written, tools=[demanding])
    assert (says, [(name, json.loads(arguments)) for name, arguments in calls]) == (
        "",
        [("reply", {"text": "It's ready."})],
    )


def test_three_quotes_within_a_text_in_other_quotes_are_words() -> None:
    assert read("reply(text=\"He wrote '''tea'''.\")")[1] == [("reply", "{\"text\": \"He wrote '''tea'''.\"}")]


def test_the_action_of_an_agent_in_json_is_a_call() -> None:
    assert read('{"action": "reply", "action_input": {"text": "Hi."}}') == ("", [("reply", '{"text": "Hi."}')], "")
    assert read('{"action": "reply", "action_input": "Hi."}') == ("", [("reply", '"Hi."')], "")


@pytest.mark.parametrize("size", [1, 5, 1000])
@pytest.mark.parametrize(
    "before",
    [
        "<|channel|>commentary to=functions.Recall <|constrain|>json<|message|>",
        "<|channel|>commentary to=functions.recall:0 <|constrain|>json",
        "commentary to=functions.recall json",
        "analysisWe look it up.assistantcommentary to=functions.recall json",
        "functions.recall:0",
        "<|tool▁calls▁begin|><|tool▁call▁begin|>function<|tool▁sep|>recall\n",
        "<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜>recall\n",
        "<longcat_tool_call>recall",
        "<TOOL_CALL>recall",
        "<tool_use>recall",
        "[TOOL_CALL]recall",
        "</tool_call>\nrecall",
        '{"function_call": {"name": "recall", "arguments": ',
    ],
)
def test_a_call_in_a_notation_that_lost_its_marks_is_one(before: str, size: int) -> None:
    assert calls_read(f'{before}{{"about": "tea"}}', TOOLS, size)[:2] == ("", [("recall", '{"about": "tea"}')])


@pytest.mark.parametrize("size", [1, 5, 1000])
@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("multi_tool_use.parallel(", ")"),
        ("functions.multi_tool_use.parallel(", ")"),
        ("Let me see.<|end|><|start|>assistant<|channel|>commentary to=multi_tool_use.parallel<|message|>", "<|call|>"),
    ],
)
def test_several_calls_that_are_written_as_one_are_made(before: str, behind: str, size: int) -> None:
    wanted = [("recall", '{"about": "tea"}'), ("reply", '{"text": "Hi."}')]
    inner = [{"recipient_name": f"functions.{name}", "parameters": json.loads(given)} for name, given in wanted]
    said, calls, _ = calls_read(f"{before}{json.dumps({'tool_uses': inner})}{behind}", TOOLS, size)
    assert (said, calls) == (before.partition("<")[0] if "see" in before else "", wanted)


def test_a_message_to_no_tool_is_a_call_that_its_caller_is_told_of() -> None:
    said, calls, _ = read('<|channel|>commentary to=functions.search <|constrain|>json<|message|>{"q": "tea"}<|call|>')
    assert (said, calls) == ("", [("search", '{"q": "tea"}')])


@pytest.mark.parametrize(
    "text",
    [
        "I like {curly} and [square] things, 3 < 4 and a `<tool_call>` too.",
        'The file holds {"name": "Ada", "born": 1815}.',
        '{"name": "nobody", "arguments": {}} is no tool of mine.',
        'Qwen writes <tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>.',
        "[link](http://example.org) and [recall] and recall (the word)",
        "reply (to him) tomorrow",
        "```python\nprint('recall()')\n```",
        "```\nrecall\n```",
        "[1, 2, 3]",
        "<function=unknown>{}</function>",
        "the <think> tag, and `</think>` after it",
        "[TOOL_CALLS] is Mistral's mark",
        "functools[reduce]",
        "{" * 50 + " x",
        "to=functions.reply is how gpt-oss says it",
        "DeepSeek writes <｜tool▁calls▁begin｜> before its calls.",
        'Llama writes `[recall(about="tea")]`, in brackets.',
        "a <|> b, <|x|> = 1, [|x|] and {|y|}",
        "ChatML writes <|im_sep|> between them, and `<|pad|>` behind.",
        "hello there: x = 3",
    ],
)
def test_what_only_looks_like_a_call_is_said(text: str) -> None:
    assert read(text) == (text, [], "")


def test_a_cut_before_the_blank_before_a_bracket_does_not_matter() -> None:
    reading = Reading()
    for piece in ("Wait:", " [recall(ab", "out='tea')]"):
        reading.feed(piece)
    assert reading.finish() == ("Wait: ", [("recall", '{"about": "tea"}')], "")


def test_without_tools_nothing_is_a_call() -> None:
    assert read(REPLY, tools=()) == (REPLY, [], "")


@given(text=st.text(alphabet="<>{}[]()|/\"'`\\:=,_ \ntolcarepyhinkT.fus-｜▁", max_size=120), size=st.integers(1, 7))
def test_nothing_is_lost_and_no_cut_matters(text: str, size: int) -> None:
    whole, cut = Reading(), Reading()
    whole.feed(text)
    for start in range(0, len(text), size):
        cut.feed(text[start : start + size])
    assert cut.finish() == whole.finish()


@given(
    words=st.lists(
        st.sampled_from(
            [
                *(*" \n.`'\"<ab", "```", "<think>", "</think>", "<|im_end|>", "</s>", "<s>", "<|im_start|>user"),
                *("[INST]", "<start_of_turn>model", "User:", "Assistant:", "<|end|>", "<|channel|>", "<|message|>"),
                "Hello. ",
            ]
        ),
        max_size=14,
    ),
    size=st.integers(1, 7),
)
def test_no_cut_matters_to_marks(words: list[str], size: int) -> None:
    text = "".join(words)
    whole, cut = Reading(), Reading()
    whole.feed(text)
    for start in range(0, len(text), size):
        cut.feed(text[start : start + size])
    assert cut.finish() == whole.finish()


@pytest.mark.parametrize(
    ("text", "says", "thinks"),
    [
        ("<think>Hm.</think>Hello.", "Hello.", "Hm."),
        ("\n<thinking>Hm.</thinking>\n\nHello.", "Hello.", "Hm."),
        ("[THINK]Hm.[/THINK]Hello.", "Hello.", "Hm."),
        ("<think>One.</think>\n<think>Two.</think>Hello.", "Hello.", "One.Two."),
        ("<think></think>\n\nHello.", "Hello.", ""),
        ("<think>Hm.</think>\n</think>\n\nHello.", "Hello.", "Hm."),
        ("One moment. <think>Hm.</think></think>Hello.", "One moment. Hello.", "Hm."),
        ("<think>never closed", "", "never closed"),
        ("Hm.\n</think>\n\nHello.", "Hello.", "Hm.\n"),
        (
            "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Hello.",
            "Hello.",
            "Hm.",
        ),
        ("<|channel|>commentary to=python code<|message|>print(1)<|call|>", "", "print(1)"),
        (
            '<|start|>functions.recall to=assistant<|channel|>commentary<|message|>{"made": "up"}<|end|>'
            "<|start|>assistant<|channel|>final<|message|>Hello.",
            "Hello.",
            '{"made": "up"}',
        ),
        ('[TOOL_RESULTS]{"made": "up"}[/TOOL_RESULTS]Hello.', "Hello.", '{"made": "up"}'),
        (
            "Here are my reasoning steps:\nHm.\n[BEGIN FINAL RESPONSE]Hello.[END FINAL RESPONSE]",
            "Hello.",
            "Here are my reasoning steps:\nHm.\n",
        ),
        ("<|channel|>final to=user<|message|>Hello.<|return|>", "Hello.", ""),
        ("<s>Hello.</s>", "Hello.", ""),
        ("Hello.<pad><pad>", "Hello.", ""),
        ("Hello.</tool_call>", "Hello.", ""),
        ("<final_answer>Hello.</final_answer>", "Hello.", ""),
        ("Hello.<|im_end|>", "Hello.", ""),
        ("Hello.</s>", "Hello.", ""),
        ("<thought>Hm.</thought>Hello.", "Hello.", "Hm."),
        ("<reasoning>Hm.</reasoning>\nHello.", "Hello.", "Hm."),
        ("<Think>Hm.</Think>Hello.", "Hello.", "Hm."),
        ("<scratchpad>Hm.</scratchpad>\n<answer>Hello.</answer>", "Hello.", "Hm."),
        ("<reflection>Hm.</reflection>Hello.", "Hello.", "Hm."),
        ("<|begin_of_thought|>Hm.<|end_of_thought|><|begin_of_solution|>Hello.<|end_of_solution|>", "Hello.", "Hm."),
        ("<unused94>Hm.<unused95>Hello.", "Hello.", "Hm."),
        ("◁think▷Hm.◁/think▷Hello.", "Hello.", "Hm."),
        ("<|channel>thought\nHm.<channel|>Hello.<turn|>\n<|turn>user\nand?", "Hello.", "\nHm."),
        ("<|im_start|>assistant\nHello.<|im_end|>", "Hello.", ""),
        ("Hello.<|im_end|>\n<|im_start|>user\nmore", "Hello.", ""),
        ("Hello. <think>Hm.</think>How are you?", "Hello. How are you?", "Hm."),
        ("Hello. <think>Hm, never closed", "Hello. ", "Hm, never closed"),
        ("你好。<think>嗯。</think>今天好吗？", "你好。今天好吗？", "嗯。"),
        ("<think>One <think>two</think> three</think>Hello.", "Hello.", "One two three"),
        ("<think>They name the <think> tag.</think>Hello.", "Hello.", "They name the  tag."),
    ],
)
def test_thinking_is_kept_and_not_said(text: str, says: str, thinks: str) -> None:
    assert read(text) == (says, [], thinks)


@pytest.mark.parametrize(
    "text",
    [
        "<start_of_turn>model\nHello.<end_of_turn>\n<eos>",
        "Hello.<end_of_turn>\n<start_of_turn>user\nAnd now?<end_of_turn>\n<start_of_turn>model\nBye.",
        "Hello.</s>[INST] And now? [/INST] Bye.</s>",
        "Hello.[INST] And now? [/INST] Bye.",
        "Assistant: Hello.<|eot_id|><|start_header_id|>user<|end_header_id|>hey",
        "<|start_header_id|>assistant<|end_header_id|>\n\nHello.<|start_header_id|>user<|end_header_id|>hey",
        "Hello.\nUser: And now?\nAssistant: Bye.\nUser: Thanks",
        "Hello.\n\nHuman: And now?",
        "Hello.<|im_end|>\n<|im_start|>user\nAnd now?<|im_end|>\n<|im_start|>assistant\nBye.",
        "Hello.<|end|><|user|>And now?<|end|><|assistant|>Bye.",
        "[INST] Say hello. [/INST] Hello.",
        "Hello.<|im_end|> \n ",
        "### Response:\nHello.\n\n### Instruction:\nSay bye.",
        "assistant\n\nHello.assistant\n\nWhat else?assistant\n\nBye.",
        "Hello.\nassistant\n\nBye.",
        "**Answer:** Hello.\n\n**User:** And now?\n**Assistant:** Bye.",
        "nakari: Hello.\nUser: And now?",
        "/no_think\nHello.",
        "Reply: Hello.",
        "User: say hello\nAssistant: Hello.\nUser: say bye now\nAssistant: Bye.",
        "用户：打个招呼\n助手：Hello.",
    ],
)
def test_an_answer_ends_with_the_turn(text: str) -> None:
    says, calls, _ = read(text)
    assert (says.rstrip(), calls) == ("Hello.", [])


def test_what_a_model_plays_behind_its_turn_ends_it_at_once() -> None:
    reading = Reading()
    reading.feed("Hello.<|im_end|>")
    assert (reading.said, reading.accumulator.is_over) == ("Hello.", False)
    reading.feed("\n<|im_start|>user\nAnd")
    assert (reading.said, reading.accumulator.is_over) == ("Hello.", True)


def test_a_turn_that_ends_behind_a_call_ends_the_answer() -> None:
    says, calls, thinks = read(f"{REPLY}<|im_end|>\n<|im_start|>user\n<tool_response>ok</tool_response>\nBye.")
    assert (says, [name for name, _ in calls], thinks) == ("", ["reply"], "")


@pytest.mark.parametrize(
    "text",
    [
        "ChatML ends a turn with `<|im_end|>`, and Llama with <|eot_id|>, as you know.",
        'Mistral begins with "[INST]" and ends with "</s>" then.',
        "It was <s>50</s> 40 euros.",
        "So:\n```\n<|im_start|>user\nHi<|im_end|>\n<think>\n```\nThat is all.",
        "They open with the <think> tag (<think>) or `<think>` or “<think>” and close it.",
        "If a < b and b <3 then 2 < 4, think of it. The tag <think> begins a thought, so say <b>bold</b> twice.",
        "Here is a short dialogue.\nUser: Hello.\nAssistant: Hi.",
        "There are two roles:\nUser: asks.\nAssistant: answers.",
        "User: that is you. Assistant: that is me.",
        "Write <thought>tea</thought> or <analysis>milk</analysis> into the file.",
        "She was his assistant\n\nand later his friend.",
        "The boss.\nUsers: many.\nHumans too.",
        "It is on the router.\nUser: admin\nPassword: 1234",
        "It is on the router.\nUser: admin",
        "User: admin\nPassword: 1234",
        "Here is how.\nInstruction: mix flour and eggs, then wait.",
    ],
)
def test_what_people_are_told_of_marks_is_said(text: str) -> None:
    assert read(text) == (text, [], "")


@pytest.mark.parametrize("name", ["deepseek-r1:8b", "QwQ-32B", "Qwen/Qwen3-30B-A3B-Thinking-2507", "Magistral-Small"])
@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_thinking_that_the_prompt_opened_is_never_said(name: str, size: int) -> None:
    reading = Reading(Dialect(GENERIC, name, Sight()))
    text = "Okay, the user greets me. Be brief.\n</think>\n\nHello."
    for start in range(0, len(text), size):
        reading.feed(text[start : start + size])
    says, _, thinks = reading.finish()
    assert (reading.said, says, thinks) == ("Hello.", "Hello.", "Okay, the user greets me. Be brief.\n")


@pytest.mark.parametrize("text", ["Okay, the user greets me.", "The user wants tea. Hm.", "好的，用户在打招呼。"])
def test_thinking_is_known_by_how_it_begins(text: str) -> None:
    reading = Reading()
    for char in f"{text}</think>Hello.":
        reading.feed(char)
    assert (reading.said, reading.finish()) == ("Hello.", ("Hello.", [], text))


def test_an_answer_that_only_begins_like_thinking_is_said_at_its_end() -> None:
    reading = Reading()
    reading.feed("Okay, ")
    assert reading.said == ""
    reading.feed("done. ")
    assert reading.said == "Okay, done. "
    assert read("The user manual is in the drawer.") == ("The user manual is in the drawer.", [], "")


@pytest.mark.parametrize("leaked", [REPLY, '{"name": "recall", "arguments": {}}', "recall()", "```\nrecall()\n```"])
def test_a_call_that_a_server_lets_through_is_one_although_it_knew_others(leaked: str) -> None:
    dialect = Dialect(GENERIC, "m", Sight())
    first = Reading(dialect)
    first.delta(tool_calls=[{"index": 0, "id": "a", "function": {"name": "recall", "arguments": "{}"}}])
    first.finish()
    second = Reading(dialect)
    second.feed(f"One moment.\n{leaked}")
    said, calls, _ = second.finish()
    assert (said.strip(), len(calls)) == ("One moment.", 1)


def test_a_model_is_known_by_its_first_closing_tag() -> None:
    dialect = Dialect(GENERIC, "house-brand:7b", Sight())
    first = Reading(dialect)
    first.feed("They greet me.</th")
    first.feed("ink>Hello.")
    assert first.finish() == ("Hello.", [], "They greet me.")
    second = Reading(dialect)
    second.feed("They greet me again. ")
    assert second.said == ""
    second.feed("</think>Hello again.")
    assert (second.said, second.finish()[2]) == ("Hello again.", "They greet me again. ")


def test_a_model_whose_name_misleads_is_held_up_once() -> None:
    dialect = Dialect(GENERIC, "think-fast:3b", Sight())
    first = Reading(dialect)
    first.feed("Hello. ")
    assert first.said == ""
    assert first.finish() == ("Hello. ", [], "")
    second = Reading(dialect)
    second.feed("Hello. ")
    assert second.said == "Hello. "


def test_a_server_that_parts_thinking_itself_holds_nothing_up() -> None:
    reading = Reading(Dialect(GENERIC, "deepseek-r1:8b", Sight()))
    reading.delta(reasoning_content="They greet me.")
    reading.feed("Hello. ")
    assert reading.said == "Hello. "


def test_a_call_after_thinking_that_was_never_closed_is_made() -> None:
    says, calls, _ = read(f"<think>I greet them.\n{REPLY}")
    assert (says, [name for name, _ in calls]) == ("", ["reply"])


def test_a_result_that_the_model_makes_up_is_not_said() -> None:
    says, calls, thinks = read('<tool_call>{"name": "recall", "arguments": {"about": "tea"}}</tool_call>\n'
                               "<tool_response>She likes it.</tool_response>")  # fmt: skip
    assert (says, len(calls), thinks) == ("", 1, "She likes it.")


def test_calls_of_the_wire_and_of_the_text_keep_their_order() -> None:
    reading = Reading()
    reading.delta(tool_calls=[{"index": 0, "id": "a", "function": {"name": "recall", "arguments": "{}"}}])
    reading.feed(REPLY)
    reading.delta(tool_calls=[{"index": 1, "id": "b", "function": {"name": "recall", "arguments": '{"most":1}'}}])
    _, calls, _ = reading.finish()
    assert [name for name, _ in calls] == ["recall", "reply", "recall"]


def test_arguments_as_a_text_are_unwrapped_and_broken_ones_left_to_the_tool() -> None:
    wrapped = json.dumps({"name": "reply", "arguments": json.dumps({"text": "Hi."})})
    assert read(f"<tool_call>{wrapped}</tool_call>")[1] == [("reply", '{"text": "Hi."}')]
    assert read('<tool_call>{"name": "reply", "arguments": {"text": nonsense}}</tool_call>')[1] == [
        ("reply", '{"text": nonsense}}')
    ]


def test_a_provider_that_parts_everything_itself_is_not_second_guessed() -> None:
    for name in ("openai", "anthropic", "gemini", "deepseek"):
        reading = Reading(Dialect(PROFILES[name], "m", Sight()))
        reading.feed(f"<think>{REPLY}")
        assert reading.finish() == (f"<think>{REPLY}", [], "")


def test_parts_of_thinking_are_kept_and_not_said() -> None:
    reading = Reading()
    thinking: Json = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    reading.delta(content=[thinking])
    reading.delta(content=[{"type": "text", "text": "Hello."}])
    assert reading.finish() == ("Hello.", [], "Hm.")


def test_what_is_thought_inline_is_kept_under_our_own_name() -> None:
    reading = Reading()
    reading.feed("<think>Hm.</think>Hello.")
    reading.finish()
    assert reading.accumulator.message().extra == {INLINE: "Hm."}
