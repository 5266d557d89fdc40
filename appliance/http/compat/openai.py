"""OpenAI's chat completions, so far as programs use them to talk to one assistant (its API reference, "Chat").

Of a request the last message counts, and the system messages; the conversation before it is remembered here anyway.
What makes a model sample otherwise (temperature, stop, max_tokens, seed …) is passed over: an agent answers, which may
ask several models. A program's tools are not called, for the agent has its own; nor is it told what such a program says
of itself, which is mostly how to call them.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from fastapi import APIRouter
from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from agent.attachments.attachment import MOST_ATTACHED
from appliance.api.caller import Caller
from appliance.api.program_questions import Figures, Question
from appliance.errors import Exit, Problem
from appliance.http.caller import Asks
from appliance.http.compat.answer import BEAT_SECONDS, Answer, Ending, WholeWriting, Writing, or_refused
from appliance.http.compat.body import REFUSALS, Bodies, Sent, as_json, documented
from appliance.http.compat.question import MODEL, Asking, Programs, asked, content_of, with_attached
from memory.json_value import Json

PROGRAMS: Final = frozenset({"system", "developer"})
"""Roles in which a program speaks for itself."""

_MODEL: Final[dict[str, Json]] = {"id": MODEL, "object": "model", "created": 0, "owned_by": MODEL}

_TYPES: Final = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}


class Link(Sent):
    """An image."""

    url: str
    """With its bytes in it: data:image/png;base64,…"""


class FileData(Sent):
    """A document."""

    filename: str = "document"
    file_data: str = ""


class Part(Sent):
    """A part of what somebody says."""

    type: str
    text: str = ""
    image_url: Link | None = None
    file: FileData | None = None


class ChatMessage(Sent):
    """What somebody said."""

    role: str
    content: str | list[Part] | None = None

    @property
    def text(self) -> str:
        """Its words."""
        parts = self.content or ""
        return parts if isinstance(parts, str) else "\n".join(part.text for part in parts if part.type == "text")

    @property
    def parts(self) -> Sequence[Part]:
        """What is beside its words."""
        return () if self.content is None or isinstance(self.content, str) else self.content


class StreamOptions(Sent):
    """What a stream tells."""

    include_usage: bool | None = None


class ResponseFormat(Sent):
    """The form of an answer."""

    type: str = "text"


class ChatRequest(Sent):
    """A request for an answer."""

    model: str = Field(MODEL, max_length=500)
    messages: list[ChatMessage] = Field(min_length=1)
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: int | None = None
    tools: list[Any] | None = None
    tool_choice: str | dict[str, Any] | None = None
    response_format: ResponseFormat | None = None


def router(asking: Asking, programs: Programs, bodies: Bodies, beat_seconds: float = BEAT_SECONDS) -> APIRouter:
    """Return the routes; `beat_seconds` is between two signs of life of an answer."""
    routes = APIRouter(prefix="/v1", tags=["OpenAI"], responses=REFUSALS)

    async def chat(request: Request, caller: Caller) -> Response:
        sent = await bodies.read(request, ChatRequest)
        question = await _question(sent, caller, request, asking, programs)
        writing = Streamed(question.event_id, sent) if sent.stream else Whole(question.event_id)
        return Answer(asking.ask(question), writing, refusal, question.text, beat_seconds)

    @routes.post("/chat/completions", openapi_extra=documented(ChatRequest))
    async def chat_completions(request: Request, caller: Asks) -> Response:
        """Answer the last message, streamed or whole."""
        return await or_refused(chat(request, caller), refusal)

    @routes.get("/models")
    async def models(caller: Asks) -> Response:
        """List the one model."""
        return JSONResponse({"object": "list", "data": [_MODEL]})

    @routes.get("/models/{name:path}")
    async def model(name: str, caller: Asks) -> Response:
        """Describe the one model."""
        if name == MODEL:
            return JSONResponse(_MODEL)
        return failure(404, f"there is no model {name[:100]!r} here, only {MODEL}", "model_not_found", "model")

    return routes


async def _question(
    sent: ChatRequest, caller: Caller, request: Request, asking: Asking, programs: Programs
) -> Question:
    """Return what is asked, with what is attached kept. Raises `Problem`, `NotAttached`."""
    if (sent.n or 1) != 1:
        raise Problem("n: there is one answer to a question", Exit.USAGE)
    if sent.tool_choice not in (None, "auto", "none"):
        raise Problem("tool_choice: the agent calls its own tools, and none of a program's", Exit.USAGE)
    if sent.response_format is not None and sent.response_format.type != "text":
        raise Problem("response_format: answers are in words, and not in JSON", Exit.USAGE)
    said = [message for message in sent.messages if message.role not in PROGRAMS]
    if not said or said[-1].role != "user":
        raise Problem("messages: the last one should be the user's", Exit.USAGE)
    last = said[-1]
    beside = [each for each in map(_attached, last.parts) if each is not None]
    if len(beside) > MOST_ATTACHED:
        raise Problem(f"messages: at most {MOST_ATTACHED} files can be asked about at once", Exit.USAGE)
    told = [] if sent.tools else [message.text for message in sent.messages if message.role in PROGRAMS]
    question = asked(last.text, told, caller, request.headers, programs)
    return await with_attached(question, beside, asking)


def _attached(part: Part) -> tuple[str, bytes] | None:
    """Return the name and the bytes of an image or a document, None for words. Raises `Problem`."""
    match part:
        case Part(type="text"):
            return None
        case Part(type="image_url", image_url=Link(url=url)):
            return "image", content_of(url, "image_url")
        case Part(type="file", file=FileData(file_data=data) as file) if data:
            return file.filename, content_of(data, "file_data")
    raise Problem(f"messages: a part {part.type[:50]!r} cannot be read; text, image_url and file can", Exit.USAGE)


@dataclass(slots=True)
class Streamed(Writing):
    """A stream of `chat.completion.chunk` as server-sent events."""

    event_id: str
    request: ChatRequest
    created: int = field(default_factory=lambda: int(time.time()))
    media_type = "text/event-stream; charset=utf-8"

    def begin(self) -> bytes:
        """Return who speaks."""
        return self._chunk({"role": "assistant", "content": ""})

    def piece(self, text: str) -> bytes:
        """Return some words."""
        return self._chunk({"content": text})

    def beat(self) -> bytes:
        """Return a comment, which every reader of server-sent events passes over."""
        return b": the answer is coming\n\n"

    def end(self, ending: Ending) -> bytes:
        """Return the last chunks: why it ended, and where it was asked for what it took."""
        last = self._chunk({}, _reason(ending))
        if self._tells_usage:
            last += _event(self._with([]) | {"usage": _usage(ending.figures)})
        return last + b"data: [DONE]\n\n"

    def broken(self, sentence: str) -> bytes:
        """Return what went wrong, as the SDKs raise it."""
        return _event({"error": _error(sentence, 500, None, None)})

    @property
    def _tells_usage(self) -> bool:
        return self.request.stream_options is not None and bool(self.request.stream_options.include_usage)

    def _chunk(self, delta: dict[str, Json], reason: str | None = None) -> bytes:
        choice: dict[str, Json] = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        return _event(self._with([choice]) | ({"usage": None} if self._tells_usage else {}))

    def _with(self, choices: list[Json]) -> dict[str, Json]:
        return _completion(self.event_id, "chat.completion.chunk", self.created, choices)


@dataclass(slots=True)
class Whole(WholeWriting):
    """One `chat.completion`."""

    event_id: str
    created: int = field(default_factory=lambda: int(time.time()))

    def end(self, ending: Ending) -> bytes:
        """Return it all."""
        message: dict[str, Json] = {"role": "assistant", "content": "".join(self.pieces), "refusal": None}
        choice: Json = {"index": 0, "message": message, "logprobs": None, "finish_reason": _reason(ending)}
        whole = _completion(self.event_id, "chat.completion", self.created, [choice])
        return as_json(whole | {"usage": _usage(ending.figures)})


def refusal(problem: Problem, status: int) -> Response:
    """Return what is refused, and that it would be again: the SDKs ask again by themselves otherwise."""
    return failure(status, problem.sentence)


def failure(status: int, sentence: str, code: str | None = None, param: str | None = None) -> JSONResponse:
    """Return a failure as OpenAI tells it."""
    return JSONResponse({"error": _error(sentence, status, code, param)}, status, {"x-should-retry": "false"})


def _error(sentence: str, status: int, code: str | None, param: str | None) -> dict[str, Json]:
    kind = _TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
    return {"message": sentence, "type": kind, "param": param, "code": code}


def _completion(event_id: str, kind: str, created: int, choices: list[Json]) -> dict[str, Json]:
    return {"id": f"chatcmpl-{event_id}", "object": kind, "created": created, "model": MODEL, "choices": choices}


def _reason(ending: Ending) -> Literal["stop", "length"]:
    """Return why an answer ended: "length" is the protocol's word for one that is not whole."""
    return "stop" if ending.is_whole else "length"


def _usage(figures: Figures) -> dict[str, Json]:
    return {
        "prompt_tokens": figures.prompt_tokens,
        "completion_tokens": figures.completion_tokens,
        "total_tokens": figures.prompt_tokens + figures.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": figures.cached_tokens},
    }


def _event(body: dict[str, Json]) -> bytes:
    return b"data: " + as_json(body) + b"\n\n"
