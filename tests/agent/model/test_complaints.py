"""Errors that are sent as the text of an answer: the next model is asked, and nothing of them is said."""

from pathlib import Path

import pytest

from agent.errors import ModelUnavailable, StreamBroken
from agent.model.dialects.complaints import complains, may_complain
from agent.model.messages import Message
from agent.model.ollama import OllamaModel
from agent.model.openai_compatible import OpenAiCompatibleModel
from tests.agent.mind import a_mind, spoken
from tests.agent.openai_server import Gate, OpenAiServer, text

pytestmark = pytest.mark.shows("B1", "B3")

COMPLAINTS = [
    "Error: CUDA out of memory. Tried to allocate 2.00 GiB",
    "CUDA error: an illegal memory access was encountered",
    "RuntimeError: CUDA error: out of memory",
    "[ERROR] upstream returned status code 503",
    "Error: 429 Too Many Requests",
    "An error occurred while processing your request. Please try again later.",
    "Internal Server Error",
    "502 Bad Gateway",
    "Traceback (most recent call last):\n  File x\nValueError: no tensor",
    '{"error": {"message": "gpu gone", "code": 500}}',
    '{"error": "model \'m\' not found"}',
    '\n{\n  "error": "overloaded"\n}',
    '{"detail": "Not enough memory"}',
    '{"object": "error", "message": "tokens", "code": 400}',
    "错误：模型超时 (HTTP 504)",
]
ANSWERS = [
    "The error means that the page is not there.",
    "Error: 404 means that the page is not there.",
    "Error: there is no timer of that name.",
    "Errors happen: CUDA ran out of memory.",
    "An error in the model of the world.",
    "Internal errors of the heart.",
    '{"error": "none", "answer": "Tea is ready."}',
    '{"text": "Tea is ready."}',
    '{"message": "Tea is ready."}',
    '{"code": 1234}',
    '{"error": null, "message": "Tea is ready."}',
    "错误：这里没有牛奶。",
    "Cuda is a name.",
    "Error: CUDA out of memory " + "and so on " * 200,
]


@pytest.mark.parametrize("said", COMPLAINTS)
def test_an_error_of_a_server_is_known(said: str) -> None:
    assert complains(said)
    assert all(may_complain(said[:size]) for size in range(len(said) + 1))


@pytest.mark.parametrize("said", ANSWERS)
def test_an_answer_is_none_also_where_it_tells_of_one(said: str) -> None:
    assert not complains(said)


@pytest.mark.parametrize("said", COMPLAINTS[:2])
async def test_the_next_model_answers(tmp_path: Path, said: str) -> None:
    async with OpenAiServer() as failing, OpenAiServer() as good:
        failing.enqueue(text(said))
        good.enqueue(text("The tea is ready."))
        models = [OpenAiCompatibleModel(failing.url, "m"), OpenAiCompatibleModel(good.url, "n")]
        async with a_mind(tmp_path, models) as mind:
            await mind.handle(spoken("is the tea ready"))
            assert mind.outlet.said == ["The tea is ready."]
        for model in models:
            await model.aclose()


async def test_an_error_in_ollamas_own_protocol_is_known_too() -> None:
    async with OpenAiServer(pages={"/api/show": {}, "/api/ps": {}}) as server:
        server.enqueue(text(COMPLAINTS[0]))
        model = OllamaModel(server.url.removesuffix("/v1"), "m")
        with pytest.raises(ModelUnavailable, match="CUDA out of memory") as raised:
            _ = [item async for item in model.stream([Message("user", "hello")], [])]
        assert not isinstance(raised.value, StreamBroken), "nothing was said: another model may be asked"
        await model.aclose()


async def test_an_answer_is_held_no_longer_than_it_may_be_an_error() -> None:
    gate = Gate()
    async with OpenAiServer() as server:
        server.enqueue(text("Every ", gate, "day."))
        model = OpenAiCompatibleModel(server.url, "m")
        said = ""
        async for item in model.stream([Message("user", "when")], []):
            said += getattr(item, "text", "")
            if said == "Every ":
                gate.open()
        assert said == "Every day."
        await model.aclose()
