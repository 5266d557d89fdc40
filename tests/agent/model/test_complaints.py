"""Errors that are sent as the text of an answer: the next model is asked, and nothing of them is said."""

from pathlib import Path

import pytest

from agent.errors import ModelUnavailable, StreamBroken
from agent.model.faults import complains
from agent.model.messages import Message
from agent.model.ollama import OllamaModel
from agent.model.openai_compatible import OpenAiCompatibleModel
from tests.agent.mind import a_mind, spoken
from tests.agent.openai_script import in_one_piece
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


TOLD = [
    "502 Bad Gateway is what a proxy says when the server behind it does not answer.",
    "Error: 404 is on your screen because the page moved.",
    "Upstream of the bridge is a model of the old mill, at http://mill.example.",
]


@pytest.mark.parametrize("said", COMPLAINTS)
def test_an_error_of_a_server_is_known(said: str) -> None:
    assert complains(said)


@pytest.mark.parametrize("said", ANSWERS)
def test_an_answer_is_none_also_where_it_tells_of_one(said: str) -> None:
    assert not complains(said)


@pytest.mark.parametrize("said", COMPLAINTS[:2])
async def test_the_next_model_answers(tmp_path: Path, said: str) -> None:
    async with OpenAiServer() as failing, OpenAiServer() as good:
        failing.enqueue(in_one_piece(said))
        good.enqueue(text("The tea is ready."))
        models = [OpenAiCompatibleModel(failing.url, "m"), OpenAiCompatibleModel(good.url, "n")]
        async with a_mind(tmp_path, models) as mind:
            await mind.handle(spoken("is the tea ready"))
            assert mind.outlet.said == ["The tea is ready."]
        for model in models:
            await model.aclose()


@pytest.mark.parametrize("said", TOLD)
async def test_what_a_model_writes_piece_by_piece_is_its_answer(tmp_path: Path, said: str) -> None:
    async with OpenAiServer() as server:
        server.enqueue(text(said))
        model = OpenAiCompatibleModel(server.url, "m")
        async with a_mind(tmp_path, [model]) as mind:
            await mind.handle(spoken("what does it say there"))
            assert mind.outlet.said == [said]
        await model.aclose()


async def test_an_error_in_ollamas_own_protocol_is_known_too() -> None:
    async with OpenAiServer(pages={"/api/show": {}, "/api/ps": {}}) as server:
        server.enqueue(in_one_piece(COMPLAINTS[0]))
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
