"""A list that a server finds too long is told as that, with the numbers it names, whatever server it is."""

import json
from collections.abc import AsyncIterator, Callable

import pytest

from agent.errors import ContextTooLong, ModelRefused, ModelUnavailable
from agent.model.faults import refused, too_long
from agent.model.interface import ChatModel
from agent.model.litellm import LiteLlmModel
from agent.model.messages import Message
from agent.model.openai_compatible import OpenAiCompatibleModel
from tests.agent.openai_script import event
from tests.agent.openai_server import OpenAiServer, Scripted, stream

pytestmark = pytest.mark.shows("D2", "X3")

HELLO = [Message("system", "You are nakari."), Message("user", "hello")]
KEY = "sk-very-secret"


def openai(message: str, **more: object) -> str:
    return json.dumps({"error": {"message": message, "type": "invalid_request_error", **more}})


REFUSALS = {
    "OpenAI": (
        openai(
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9027 tokens (8000 "
            "in the messages, 1027 in the functions). Please reduce the length of the messages or functions.",
            param="messages",
            code="context_length_exceeded",
        ),
        (8192, 8000),
    ),
    "OpenAI, newer": (
        openai(
            "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300012 tokens. "
            "Please reduce the length of the messages.",
            code="context_length_exceeded",
        ),
        (272_000, 300_012),
    ),
    "OpenAI, without numbers": (
        openai("Your input exceeds the context window of this model.", code="context_length_exceeded"),
        (0, 0),
    ),
    "vLLM": (
        json.dumps(
            {
                "object": "error",
                "message": "This model's maximum context length is 16384 tokens. However, you requested 18946 tokens "
                "(17946 in the messages, 1000 in the completion). Please reduce the length of the messages.",
                "type": "BadRequestError",
                "param": None,
                "code": 400,
            }
        ),
        (16_384, 17_946),
    ),
    "vLLM, newer": (
        openai(
            "You passed 4477 input tokens and requested 0 output tokens. However, the model's context length is only "
            "4096 tokens, resulting in a maximum input length of 4096 tokens. Please reduce the length of the prompt."
        ),
        (4096, 4477),
    ),
    "vLLM, the engine": (
        openai("The decoder prompt (length 4500) is longer than the maximum model length of 4096. Make sure …"),
        (4096, 4500),
    ),
    "SGLang": (
        openai("The input (5012 tokens) is longer than the model's context length (4096 tokens)."),
        (4096, 5012),
    ),
    "llama.cpp": (
        json.dumps(
            {
                "error": {
                    "code": 400,
                    "message": "the request exceeds the available context size, try increasing it",
                    "type": "exceed_context_size_error",
                    "n_prompt_tokens": 4476,
                    "n_ctx": 4096,
                }
            }
        ),
        (4096, 4476),
    ),
    "llama.cpp, its words alone": (
        "request (4476 tokens) exceeds the available context size (4096 tokens), try increasing it",
        (4096, 4476),
    ),
    "Ollama": ('{"error":"the input length exceeds the context length"}', (0, 0)),
    "Ollama, newer": (
        '{"error":"the prompt is longer than the context length currently available to the model; shorten the prompt"}',
        (0, 0),
    ),
    "LM Studio": (
        openai(
            "Trying to keep the first 5023 tokens when context the overflows. However, the model is loaded with "
            "context length of only 4096 tokens, which is not enough."
        ),
        (4096, 0),
    ),
    "TGI": (
        '{"error":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` '
        'tokens and 20 `max_new_tokens`","error_type":"validation"}',
        (4096, 5000),
    ),
    "Anthropic": (
        json.dumps(
            {
                "type": "error",
                "error": {
                    "type": "invalid_request_error",
                    "message": "prompt is too long: 208423 tokens > 200000 maximum",
                },
            }
        ),
        (200_000, 208_423),
    ),
    "Anthropic, with the answer": (
        openai("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length"),
        (200_000, 190_000),
    ),
    "Gemini": (
        json.dumps(
            {
                "error": {
                    "code": 400,
                    "message": "The input token count (1,200,345) exceeds the maximum number of tokens allowed "
                    "(1,048,576).",
                    "status": "INVALID_ARGUMENT",
                }
            }
        ),
        (1_048_576, 1_200_345),
    ),
    "DeepSeek": (
        openai(
            "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens (66000 in the "
            "messages, 4000 in the completion). Please reduce the length of the messages or completion."
        ),
        (65_536, 66_000),
    ),
    "OpenRouter": (
        openai(
            "This endpoint's maximum context length is 32768 tokens. However, you requested about 39884 tokens (38884 "
            'of text input, 1000 in the output). Please reduce the length of either one, or use the "middle-out" '
            "transform to compress your prompt automatically.",
            code=400,
        ),
        (32_768, 38_884),
    ),
    "Mistral": (
        '{"object":"error","message":"Prompt contains 40012 tokens and 0 draft tokens, too large for model with 32768 '
        'maximum context length","type":"invalid_request_error","code":"3051"}',
        (32_768, 40_012),
    ),
    "xAI": (
        '{"code":"Client specified an invalid argument","error":"This model\'s maximum prompt length is 131072 but the '
        'request contains 140003 tokens."}',
        (131_072, 140_003),
    ),
    "TGI, its input alone": (
        '{"error":"Input validation error: `inputs` must have less than 4096 tokens. Given: 5012"}',
        (4096, 5012),
    ),
    "TabbyAPI": ('{"detail":"Prompt length 5012 is greater than max_seq_len 4096"}', (4096, 5012)),
    "llama-cpp-python": (openai("Requested tokens (5012) exceed context window of 4096"), (4096, 5012)),
    "Cohere": (
        "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000. Try another",
        (4081, 5000),
    ),
    "TensorRT-LLM": ("prompt length (5000) exceeds maximum input length (4096). Set log level to …", (4096, 5000)),
    "Moonshot": (openai("Invalid request: Your request exceeded model token limit: 8192"), (8192, 0)),
    "Ollama, by how much": (openai("prompt too long; exceeded max context length by 1523 tokens"), (0, 0)),
    "Groq, by its limit a minute": (
        openai(
            "Request too large for model `llama-3.1-8b-instant` in organization `org_x` service tier `on_demand` on "
            "tokens per minute (TPM): Limit 6000, Requested 8012, please reduce your message size and try again.",
            code="rate_limit_exceeded",
        ),
        (6000, 8012),
    ),
}
"""By server: the body of its refusal, and the window and the asked tokens in it; 0 where it names none."""

OTHERS = (
    openai("temperature must be below 2"),
    openai("Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40"),
    openai("Rate limit reached for gpt-5.4-mini on tokens per min (TPM): Limit 200000, Used 199000, Requested 8000."),
    openai("the model context-small was not found"),
    "<html>Bad gateway</html>",
    openai("max_tokens is too large: 200000. This model supports at most 16384 completion tokens."),
    openai("Number of request tokens has exceeded your per-minute rate limit"),
    openai("This request would exceed your organization's rate limit of 50,000 input tokens per minute"),
    '{"detail":[{"loc":["body","temperature"],"msg":"Input should be less than or equal to 2","input":3}]}',
    openai("messages.1.content.0.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes"),
    openai("request timed out: it took longer than 60 seconds to load the model"),
)


@pytest.mark.parametrize("server", REFUSALS)
def test_each_server_s_refusal_is_understood(server: str) -> None:
    body, (window, asked) = REFUSALS[server]
    for status in (400, 413, 422, 500):
        error = refused("m", status, body)
        assert isinstance(error, ContextTooLong)
        assert (error.window, error.asked) == (window, asked)
        assert str(error).startswith("m reads ")


@pytest.mark.parametrize("body", OTHERS)
def test_other_refusals_are_no_matter_of_length(body: str) -> None:
    assert too_long("m", body) is None


def test_whatever_is_refused_as_too_large_is_too_long() -> None:
    assert isinstance(refused("m", 413, b"Payload Too Large"), ContextTooLong)


def test_an_answer_that_was_given_all_the_room_is_no_long_list() -> None:
    body = openai(
        "This model's maximum context length is 6048 tokens. However, you requested 6616 tokens (568 in the messages, "
        "6048 in the completion)."
    )
    error = refused("m", 400, body)
    assert type(error) is ModelRefused
    assert "lower max_tokens" in str(error)


Connect = Callable[[str], ChatModel]


@pytest.fixture(params=["openai_compatible", "litellm"])
async def connect(request: pytest.FixtureRequest) -> AsyncIterator[Connect]:
    made: list[ChatModel] = []

    def make(url: str) -> ChatModel:
        model = (
            OpenAiCompatibleModel(url, "m", KEY)
            if request.param == "openai_compatible"
            else LiteLlmModel("openai/m", KEY, url)
        )
        made.append(model)
        return model

    yield make
    for model in made:
        await model.aclose()


async def failure_of(model: ChatModel) -> Exception:
    with pytest.raises((ModelRefused, ModelUnavailable)) as raised:
        async for _ in model.stream(HELLO, []):
            pass
    return raised.value


@pytest.mark.parametrize("server", ["OpenAI", "vLLM", "llama.cpp", "OpenRouter", "Ollama"])
async def test_both_adapters_tell_it(connect: Connect, server: str) -> None:
    body, (window, asked) = REFUSALS[server]
    async with OpenAiServer() as http:
        http.enqueue(Scripted((body.encode(),), 400, {"Content-Type": "application/json"}))
        failure = await failure_of(connect(http.url))
    assert isinstance(failure, ContextTooLong)
    assert failure.window == window or (server == "llama.cpp" and not failure.window)  # litellm drops its numbers
    assert failure.asked == asked or not failure.window


async def test_a_refusal_that_comes_as_the_first_piece_of_a_stream_is_one_too(connect: Connect) -> None:
    body, _ = REFUSALS["llama.cpp, its words alone"]
    async with OpenAiServer() as http:
        http.enqueue(stream(event({"error": {"code": 400, "message": body, "type": "exceed_context_size_error"}})))
        failure = await failure_of(connect(http.url))
    assert isinstance(failure, ContextTooLong)
    assert (failure.window, failure.asked) == (4096, 4476)
