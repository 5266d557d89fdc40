"""The thin adapter and the loop against a real llama.cpp server, whose tiny model says nothing that makes sense."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from msgspec.structs import replace

from agent.errors import ContextTooLong
from agent.model.interface import Answer, StreamItem, TextDelta
from agent.model.messages import Message
from agent.model.openai_compatible import OpenAiCompatibleModel
from agent.model.window import Window
from agent.model.wire.profile import PROFILES
from memory.json_value import Json
from tests.agent.llama_cpp import VOCABULARY, llama_cpp
from tests.agent.mind import a_mind, typed
from tests.figures import figure

WINDOW = 16_384
SYSTEM = "You are a box that listens, and this is the beginning of every list. " * 20
ONLY_LETTERS: list[Json] = [[token, False] for token, text in enumerate(VOCABULARY) if not text.isalpha()]
"""Of bytes and signs by chance the server sometimes makes a call of a tool that cannot be one, and refuses."""
ASKED = [Message("system", SYSTEM), Message("user", "What time is it?")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncIterator[str]:
    async with llama_cpp(WINDOW) as url:
        yield url


def model(server: str, **params: Json) -> OpenAiCompatibleModel:
    usual = PROFILES["llama.cpp"]
    return OpenAiCompatibleModel(server, "tiny", profile=replace(usual, params={**usual.params, "seed": 1, **params}))


async def answered(asked: OpenAiCompatibleModel, messages: list[Message]) -> tuple[list[StreamItem], Answer]:
    items = [item async for item in asked.stream(messages, ())]
    last = items[-1]
    assert isinstance(last, Answer)
    return items, last


@pytest.mark.shows("F1")
@pytest.mark.asyncio(loop_scope="module")
async def test_words_come_piece_by_piece_and_end_in_a_whole_answer(server: str) -> None:
    asked = model(server, grammar='root ::= "It is noon, or nearly so."')
    items, last = await answered(asked, ASKED)
    said = [item.text for item in items if isinstance(item, TextDelta)]
    assert "".join(said) == last.message.content == "It is noon, or nearly so."
    assert len(said) > 5
    assert (last.finish_reason, last.usage.completion_tokens > 0) == ("stop", True)
    assert last.usage.prompt_tokens > len(SYSTEM), "each token is a byte"
    await asked.aclose()


@pytest.mark.shows("F1")
@pytest.mark.asyncio(loop_scope="module")
async def test_an_answer_that_ran_into_its_limit_says_so(server: str) -> None:
    asked = model(server, max_tokens=8)
    _, last = await answered(asked, ASKED)
    assert (last.finish_reason, last.usage.completion_tokens) == ("length", 8)
    await asked.aclose()


@pytest.mark.shows("D2")
@pytest.mark.asyncio(loop_scope="module")
async def test_a_list_longer_than_its_window_is_refused_with_its_own_words(server: str) -> None:
    asked = model(server)
    with pytest.raises(ContextTooLong, match=f"{WINDOW} tokens") as raised:
        await answered(asked, [*ASKED, Message("user", "x" * WINDOW)])
    assert raised.value.window == WINDOW
    assert raised.value.asked > WINDOW
    assert asked.window.in_force == Window(WINDOW, "a refusal")
    await asked.aclose()


@pytest.mark.shows("D2", "F1")
@pytest.mark.asyncio(loop_scope="module")
async def test_it_says_what_it_reads_before_it_is_asked_anything(server: str) -> None:
    asked = model(server)
    await asked.warm()
    assert asked.window.in_force == Window(WINDOW, "/props")
    await asked.aclose()


@pytest.mark.shows("D11", "F1")
@pytest.mark.asyncio(loop_scope="module")
async def test_a_conversation_of_the_real_loop_comes_out_of_its_cache(server: str, tmp_path: Path) -> None:
    asked = model(server, max_tokens=12, logit_bias=ONLY_LETTERS)
    async with a_mind(tmp_path, [asked], system=SYSTEM) as mind:
        for number in range(5):
            await mind.handle(typed(f"What is {number} and one?"))
        results = await mind.journal.entries(topic="llm.results")
    await asked.aclose()
    usage = [entry.body for entry in results if "prompt_tokens" in entry.body]
    assert len(usage) >= 5
    prompt, cached = (sum(int(str(body[key])) for body in usage[1:]) for key in ("prompt_tokens", "cached_tokens"))
    figure(f"a real llama.cpp server, {len(usage)} calls of a conversation", f"{cached / prompt:.0%} out of its cache")
    assert cached / prompt > 0.9
