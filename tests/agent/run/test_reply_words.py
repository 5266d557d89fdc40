"""The words that reach a person, whatever a model makes of its reply: no thinking, nothing twice, and never none."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.event import Event
from agent.model.messages import Message, is_wordless
from agent.model.openai_compatible import OpenAiCompatibleModel
from tests.agent.mind import a_mind, spoken, typed
from tests.agent.openai_server import Gate, OpenAiServer, ScriptedCall, call, chunk, stream
from tests.agent.openai_server import calls as server_calls
from tests.agent.openai_server import text as server_text
from tests.fakes import ScriptedModel, calls

COMPLETE = ("complete_event", '{"summary": "answered"}')
ONLY_COMPLETE = calls(COMPLETE)


def reply(text: str, **more: object) -> tuple[str, str]:
    return "reply", json.dumps({**more, "text": text})


@asynccontextmanager
async def connected(server: OpenAiServer) -> AsyncIterator[OpenAiCompatibleModel]:
    model = OpenAiCompatibleModel(server.url, "m")
    try:
        yield model
    finally:
        await model.aclose()


@pytest.mark.parametrize(
    "text",
    [
        "<think>They ask about tea. I say it.</think>The tea is ready.",
        "<thought>\nTea.\n</thought>\n\nThe tea is ready.<|im_end|>",
        "The tea is ready.</s>",
        "Thought: They ask about tea.\nFinal Answer: The tea is ready.",
        "[cheerful] The tea is ready. *complete_event*",
        "*smiles warmly* The tea is ready.",
    ],
)
@pytest.mark.parametrize("room", [{}, {"room": "everywhere"}])
async def test_thinking_within_a_reply_is_not_said(tmp_path: Path, text: str, room: dict[str, str]) -> None:
    async with a_mind(tmp_path, [ScriptedModel(calls(reply(text, **room), COMPLETE))]) as mind:
        await mind.handle(spoken("is the tea ready"))
        assert mind.outlet.said == ["The tea is ready."]


@pytest.mark.parametrize("text", ["<think>Should I greet them?</think>", "...", "…!"])
async def test_a_reply_of_nothing_but_thinking_or_dots_is_no_reply(tmp_path: Path, text: str) -> None:
    nothing = calls(reply(text), COMPLETE)
    model = ScriptedModel(nothing, calls(reply("Hello."), COMPLETE, prefix="again"))
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(spoken("hello"))
        assert mind.outlet.said[-1] == "Hello."
        assert is_wordless("".join(mind.outlet.said[:-1]))
    results = [message.content for message in model.requests[1] if message.role == "tool"]
    assert results[0].startswith("error: there are no words in the text; write what is to be said")
    assert results[1].startswith("refused: your reply did not reach its end")


async def test_an_answer_of_dots_is_an_empty_one(tmp_path: Path) -> None:
    model = ScriptedModel(Message("assistant", "..."), calls(reply("Hello."), COMPLETE))
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(spoken("hello"))
        assert mind.outlet.said[-1] == "Hello."


@pytest.mark.parametrize(
    "arguments",
    [
        '{"text": "It is ready.\nCome now.",}',
        "{'text': 'It is ready.\\nCome now.'}",
        '{"text": "It is ready.\\nCome now.", "aloud": False, "room": None}',
        '{"text": "It is ready.\\nCome now."}{"text": "It is ready.\\nCome now."}',
        '{"name": "reply", "parameters": {"text": "It is ready.\\nCome now."}}',
    ],
)
async def test_arguments_that_are_nearly_json_are_said_whole_and_once(tmp_path: Path, arguments: str) -> None:
    async with OpenAiServer() as server, connected(server) as model:
        server.enqueue(server_calls(call("reply", arguments), call(*COMPLETE)))
        async with a_mind(tmp_path, [model]) as mind:
            await mind.handle(spoken("is the tea ready"))
            assert mind.outlet.said == ["It is ready.", "Come now."]
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "text",
    [
        "*nods* The tea is ready. (smiles)",
        "The tea is ready. `*complete_event*`",
        '<reply text="The tea is ready."/>',
        '<Event id="1"/>\n<Human_Input>is the tea ready</Human_Input>\nThe tea is ready.',
    ],
)
async def test_of_bare_text_only_the_words_are_said(tmp_path: Path, text: str) -> None:
    async with OpenAiServer() as server, connected(server) as model:
        server.enqueue(server_text(text))
        async with a_mind(tmp_path, [model]) as mind:
            await mind.handle(spoken("is the tea ready"))
            assert [words.strip() for words in mind.outlet.said] == ["The tea is ready."]


async def test_an_empty_reply_is_silence_and_not_asked_for_again(tmp_path: Path) -> None:
    model = ScriptedModel(calls(reply(""), COMPLETE), calls(reply(" "), COMPLETE))
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(spoken("the news at nine"))
        assert mind.outlet.said == []
        await mind.handle(typed("hello"))
        assert mind.outlet.said == ["I have nothing to say to that."]
    assert len(model.requests) == 2


@pytest.mark.parametrize(
    "script",
    [
        [calls(reply("The tea is ready."), COMPLETE, text="The tea is ready.")],
        [calls(*[reply("The tea is ready.")] * 40, COMPLETE)],
        [calls(reply("The tea is ready.")), Message("assistant", "The tea is *ready*")],
        [Message("assistant", "The tea is ready. "), calls(reply("The tea is ready"), COMPLETE)],
    ],
)
@pytest.mark.parametrize("piece", [1, 7, 1000])
async def test_the_same_words_are_said_once(tmp_path: Path, script: list[Message], piece: int) -> None:
    async with a_mind(tmp_path, [ScriptedModel(*script, piece=piece)]) as mind:
        event = spoken("is the tea ready")
        await mind.handle(event)
        assert mind.outlet.said == ["The tea is ready."]
        assert await mind.state_of(event) == "completed"


@pytest.mark.parametrize("piece", [1, 7, 1000])
async def test_what_only_begins_alike_is_said(tmp_path: Path, piece: int) -> None:
    answer = calls(reply("The tea is ready, and so is the cake."), reply("👍"), COMPLETE, text="The tea is ready.")
    async with a_mind(tmp_path, [ScriptedModel(answer, piece=piece)]) as mind:
        await mind.handle(typed("is the tea ready"))
        assert sorted(mind.outlet.said) == ["The tea is ready, and so is the cake.", "The tea is ready.", "👍"]


async def test_another_room_has_the_words_too(tmp_path: Path) -> None:
    answer = calls(reply("Dinner is ready.", room="kitchen"), reply("Dinner is ready."), COMPLETE)
    async with a_mind(tmp_path, [ScriptedModel(answer)]) as mind:
        await mind.handle(spoken("tell everybody that dinner is ready"))
        assert mind.outlet.said == ["Dinner is ready."] * 2
        assert sorted(each.room for each in mind.outlet.replies) == ["", "kitchen"]


@pytest.mark.parametrize(
    ("words", "said"), [("hello", "I have nothing to say to that."), ("你好", "这个我没有什么可说的。")]
)
async def test_who_writes_is_not_left_without_a_word(tmp_path: Path, words: str, said: str) -> None:
    async with a_mind(tmp_path, [ScriptedModel(*[ONLY_COMPLETE] * 3)]) as mind:
        await mind.handle(typed(words))
        assert mind.outlet.said == [said], "asked for once more, it meant that"
        await mind.handle(spoken(words))  # it may not have been addressed
        assert mind.outlet.said == [said]


@pytest.mark.parametrize("marks", ["named", "woken follow_up"])
@pytest.mark.parametrize("ending", [COMPLETE, ("suspend_event", '{"note": "tell them"}')])
async def test_a_model_that_forgets_to_answer_is_told_so_once(
    tmp_path: Path, marks: str, ending: tuple[str, str]
) -> None:
    model = ScriptedModel(calls(ending), calls(reply("The tea is ready."), COMPLETE, prefix="again"))
    async with a_mind(tmp_path, [model]) as mind:
        event = replace(spoken("nakari, is the tea ready"), metadata={"evidence": {"addressed": marks}})
        await mind.handle(event)
        assert mind.outlet.said == ["The tea is ready."]
        assert await mind.state_of(event) == "completed"
    assert model.requests[1][-1].content.startswith("refused: they asked you")


async def test_a_reply_that_is_always_cut_off_is_said_as_far_as_it_comes(tmp_path: Path) -> None:
    texts = ('{"text": "The tea is ready. It is', '{"text": "It is hot and', '{"text": "It is hot and')
    async with OpenAiServer() as server, connected(server) as model:
        server.enqueue(*(server_calls(call("reply", text)) for text in texts))
        async with a_mind(tmp_path, [model]) as mind:
            event = spoken("is the tea ready")
            await mind.handle(event)
            assert mind.outlet.said == ["The tea is ready.", "It is hot and"]
            assert await mind.state_of(event) == "completed"
    assert len(server.requests) == 2


async def test_a_reply_that_only_lacks_its_end_is_not_asked_for_again(tmp_path: Path) -> None:
    async with OpenAiServer() as server, connected(server) as model:
        server.enqueue(server_calls(call("reply", '{"text": "The tea is ready.'), call(*COMPLETE)))
        async with a_mind(tmp_path, [model]) as mind:
            await mind.handle(spoken("is the tea ready"))
            assert mind.outlet.said == ["The tea is ready."]
    assert len(server.requests) == 1


def named(words: str) -> Event:
    return replace(spoken(words), metadata={"evidence": {"addressed": "named"}})


@pytest.mark.parametrize("make", [typed, named])
async def test_what_was_done_without_a_word_is_told(tmp_path: Path, make: Callable[[str], Event]) -> None:
    task = ("create_event", json.dumps({"type": "self_task", "content": "think of tea", "priority": 0}))
    async with a_mind(tmp_path, [ScriptedModel(calls(task, COMPLETE))]) as mind:
        await mind.handle(make("think of tea later"))
        assert mind.outlet.said == ["Done."]


@pytest.mark.parametrize("failing", [("lights_on", "{}"), ("create_event", '{"contents": "tea"}')])
async def test_an_event_does_not_end_beside_a_call_that_failed(tmp_path: Path, failing: tuple[str, str]) -> None:
    too_soon = calls(failing, reply("The lights are on."), COMPLETE)
    model = ScriptedModel(too_soon, calls(reply("No, they are not."), COMPLETE, prefix="again"))
    async with a_mind(tmp_path, [model]) as mind:
        event = spoken("turn on the lights")
        await mind.handle(event)
        assert mind.outlet.said == ["The lights are on.", "No, they are not."]
        assert await mind.state_of(event) == "completed"
    results = [message.content for message in model.requests[1] if message.role == "tool"]
    assert results[0].startswith("error: ")
    assert results[2].startswith(f"refused: {failing[0]} came to nothing")


async def test_a_call_that_fails_again_and_again_is_no_silence_that_was_meant(tmp_path: Path) -> None:
    answers = [calls(("say_it", '{"words": "Yes."}'), COMPLETE, prefix=f"call{number}") for number in range(3)]
    async with a_mind(tmp_path, [ScriptedModel(*answers)]) as mind:
        event = spoken("is the tea ready")
        await mind.handle(event)
        assert mind.outlet.said == ["Something went wrong inside me while I was working on that.", "It is in my log."]
        assert await mind.state_of(event) == "completed"


async def test_words_before_a_call_are_heard_while_it_is_written(tmp_path: Path) -> None:
    gate = Gate()
    async with OpenAiServer() as server, connected(server) as model:
        server.enqueue(server_calls(ScriptedCall("check_mailbox", ("{", gate, "}"), "c"), said="Let me see."))
        server.enqueue(server_text("There is nothing."))
        async with a_mind(tmp_path, [model]) as mind, mind.at_work(spoken("anything new")):
            await mind.outlet.sentence_said.wait()
            assert mind.outlet.said == ["Let me see."]
            gate.open()
        assert mind.outlet.said == ["Let me see.", "There is nothing."]


@pytest.mark.parametrize("is_last", [False, True])
async def test_bare_text_and_a_reply_that_begins_alike_are_one_answer_in_its_order(
    tmp_path: Path, is_last: bool
) -> None:
    replied = server_calls(call("reply", {"text": "The tea is ready. It is hot."}))
    written = chunk({"content": "The tea is ready. It is hot."[: None if is_last else 17]})
    opening, *pieces, end, done = replied.steps
    steps = [opening, *pieces, written] if is_last else [opening, written, *pieces]
    async with OpenAiServer() as server, connected(server) as model:
        server.enqueue(stream(*steps, end, done))
        async with a_mind(tmp_path, [model]) as mind:
            await mind.handle(spoken("is the tea ready"))
            assert mind.outlet.said == ["The tea is ready.", "It is hot."]
