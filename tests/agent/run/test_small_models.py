"""What small models were seen to write, through the real loop: only their answer is heard, and at the first asking."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from agent.model.openai_compatible import OpenAiCompatibleModel
from audio.tts.speakable import speakable
from tests.agent.mind import a_mind, spoken
from tests.agent.openai_server import OpenAiServer, Scripted, call, calls, text

pytestmark = pytest.mark.shows("F1", "B12")

WRITTEN = (
    "User: say hello\nAssistant: Hello there.",
    "reply: Hello there.",
    'reply("Hello there.")\ncomplete_event("greeted")',
    'reply("Hello there.")\ncomplete_event(summary="greeted")',
    '```\nreply(text="Hello there.")\n```',
    'Tool: reply\nArguments: {"text": "Hello there."}',
    'Function: reply\nArguments: {"text": "Hello there."}',
    'Tool call: reply\nInput: {"text": "Hello there."}',
    '{"text": "Hello there."}',
    '{"reply": "Hello there."}',
    '{"reply": {"text": "Hello there."}}',
    '{"reply": {"text": "Hello there."}, "complete_event": {"summary": "x"}}',
    '[{"name": "reply", "arguments": {"text": "Hello there."}}, {"name": "complete_event", "arguments": {}}]',
    '{"tool": "reply", "text": "Hello there."}',
    '{"action": "reply", "text": "Hello there."}',
    '{"type": "function", "name": "reply", "parameters": {"text": "Hello there."}}',
    "<reply>Hello there.</reply><complete_event>greeted</complete_event>",
    "Hello there.\n\ncomplete_event",
    "Hello there.\ncomplete_event: greeted",
    "Hello there. [complete_event]",
    "Hello there.\n(Note: I have completed the event.)",
    "Hello there.\n\n[End of response]",
    "Hello there.<|endoftext|>Human: what",
    "**nakari:** Hello there.",
    "<output>Hello there.</output>",
    "<final>Hello there.</final>",
    "<speak>Hello there.</speak>",
    "<message>Hello there.</message>",
    "<think>\n</think>\n\nHello there.",
    "<|channel|>final<|message|>Hello there.<|return|>",
    "analysisThe user greets.assistantfinalHello there.",
    'Hello there.\n\n{"name": "complete_event", "arguments": {"summary": "x"}}',
    'Hello there.\n```json\n{"name": "complete_event", "arguments": {"summary": "x"}}\n```',
    'Hello there.\n<tool_call>\n{"name": "complete_event"}\n</tool_call>',
    "Thought: hi\nAction: reply\nAction Input: Hello there.\nPAUSE",
    "THOUGHT: hi\nACTION: reply\nACTION INPUT: Hello there.",
    "Thought: hi\nSpeak: Hello there.",
    "Thought: hi\nResponse: Hello there.",
    "Thought: hi\nReply: Hello there.",
    "Thought: hi\nAnswer: Hello there.",
    "Plan: greet them.\nResponse: Hello there.",
    "[Thinking: I should greet] Hello there.",
    "(thinking: greet) Hello there.",
    "*thinks* Hello there.",
    "(Thinks for a moment) Hello there.",
    "<s>[INST] hello [/INST] Hello there.</s>",
    "思考过程：打招呼\n回复：Hello there.",
    "Response: Hello there.",
    "<tool_call>reply<arg_key>text</arg_key><arg_value>Hello there.</arg_value></tool_call>",
    '<tool_call>{"name": "reply", "arguments": {"text": "Hello there."}}',
    'tool_call: {"name": "reply", "arguments": {"text": "Hello there."}}',
    '<function_call>reply(text="Hello there.")</function_call>',
    '<|tool_call|>[{"name": "reply", "arguments": {"text": "Hello there."}}]',
    'functions.reply({"text": "Hello there."})',
    'reply {"text": "Hello there."}',
    'reply{"text": "Hello there."}',
    'print(reply(text="Hello there."))',
    'await reply("Hello there.")',
    'reply(text = "Hello there.", room = None)',
    'nakari.reply(text="Hello there.")',
    'answer = tool_code.reply(text="Hello there.")',
    'reply(text="""Hello there.""")',
    "print(reply('''Hello there.'''))",
    "```tool_code\nprint(reply(text='Hello there.'))\n```\n```tool_output\ndelivered\n```",
    '{"thought": "They greet.", "reply": "Hello there."}',
    '{"reply": "Hello there.", "complete_event": true}',
    '{"thoughts": "They greet.", "tool": "reply", "args": {"text": "Hello there."}}',
    '{"thought": "They greet.", "tool_calls": [{"name": "reply", "arguments": {"text": "Hello there."}}]}',
    '{"role": "assistant", "content": null, "tool_calls": [{"id": "1", "type": "function", "function": {"name": '
    '"reply", "arguments": "{\\"text\\": \\"Hello there.\\"}"}}]}',
    "Hello there.[|endofturn|]",
    "[|assistant|]Hello there.",
    "Hello there. <|complete_event|>",
    '<|tool_call|>reply(text="Hello there.")<|end_tool_call|>',
)


BOTH = "Hello there. How are you?"

IN_JSON = (
    {"response": BOTH},
    {"answer": BOTH},
    {"text": BOTH},
    {"message": BOTH},
    [{"type": "text", "text": BOTH}],
    {"name": "say", "arguments": {"text": BOTH}},
    {"thought": "They greet.", "reply": BOTH},
)
"""Two sentences each: what ends the first of them is no end of the JSON."""

CALLED = (
    ("say", {"text": BOTH}),
    ("speak", {"message": BOTH}),
    ("tell_user", {"words": BOTH}),
    ("respond_to_user", {"response": BOTH}),
    ("sendReply", {"reply": BOTH}),
    ("final_answer", {"answer": BOTH}),
    ("reply", {"speech": BOTH}),
    ("reply", {"text": {"content": BOTH}}),
    ("reply", {"type": "object", "properties": {"text": BOTH}}),
)
"""In place of `reply` with its text."""

NOTHING = (
    *("null", "None", "{}", "[]", '""', " null\n", "(no reply needed)", "(No answer needed.)"),
    *(
        "(I have answered the question.)",
        "(The user did not ask for anything.)",
        "(I already replied to the user's message.)",
    ),
)


async def heard(folder: Path, *answers: Scripted) -> tuple[list[str], int]:
    """Return what is said in answer to a greeting, and how often the model was asked."""
    async with OpenAiServer() as server:
        server.enqueue(*answers)
        model = OpenAiCompatibleModel(server.url, "m")
        async with a_mind(folder, [model]) as mind:
            event = spoken("hello")
            await mind.handle(event)
            assert await mind.state_of(event) == "completed"
        await model.aclose()
    return [speakable(words, "en") for words in mind.outlet.said], len(server.requests)


@pytest.mark.parametrize("written", WRITTEN)
async def test_only_the_answer_is_heard(tmp_path: Path, written: str) -> None:
    assert await heard(tmp_path, text(written)) == (["Hello there."], 1)


@pytest.mark.parametrize("written", IN_JSON, ids=str)
async def test_an_answer_in_json_is_heard_to_its_end(tmp_path: Path, written: object) -> None:
    said, asked = await heard(tmp_path, text(json.dumps(written)))
    assert (" ".join(said), asked) == (BOTH, 1)


@pytest.mark.parametrize(("name", "arguments"), CALLED)
async def test_words_under_another_name_are_heard_at_once(
    tmp_path: Path, name: str, arguments: Mapping[str, object]
) -> None:
    said, _ = await heard(tmp_path, calls(call(name, arguments), call("complete_event", {"summary": "greeted"})))
    assert " ".join(said) == BOTH


@pytest.mark.parametrize("written", NOTHING)
async def test_an_answer_that_is_none_is_asked_for_again(tmp_path: Path, written: str) -> None:
    assert await heard(tmp_path, text(written), text("Hello there.")) == (["Hello there."], 2)


@pytest.mark.parametrize("written", ["Nullify it.", "None of them.", "None.", "(Tom waves.)"])
async def test_what_only_begins_like_nothing_is_heard(tmp_path: Path, written: str) -> None:
    assert await heard(tmp_path, text(written)) == ([written], 1)
