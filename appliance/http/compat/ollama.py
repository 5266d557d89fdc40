"""Ollama's chat, so far as programs use it to talk to one assistant (its docs/api.md).

Of a request the last message counts, and the system messages; the conversation before it is remembered here anyway.
Options, `think` and `keep_alive` are passed over: an agent answers, which may ask several models and has none to load.
A program's tools are not called, for the agent has its own (Home Assistant's too); nor is it told what such a program
says of itself, which is mostly how to call them.
"""

import hashlib
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from fastapi import APIRouter
from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from agent.attachments.attachment import MOST_ATTACHED
from appliance.api.caller import Caller
from appliance.api.program_questions import Question
from appliance.errors import Exit, Problem
from appliance.http.caller import Asks
from appliance.http.compat.answer import BEAT_SECONDS, Answer, Ending, WholeWriting, Writing, or_refused
from appliance.http.compat.body import REFUSALS, Bodies, Sent, as_json, documented
from appliance.http.compat.question import MODEL, Asking, Programs, asked, content_of, with_attached
from memory.json_value import Json

TAGGED: Final = f"{MODEL}:latest"
"""The one model, as Ollama names it."""

PROTOCOL: Final = "0.12.0"
"""The version of Ollama whose protocol this is; programs ask for it to know what they may use."""

DIGEST: Final = hashlib.sha256(MODEL.encode()).hexdigest()
SINCE: Final = "2026-11-22T00:00:00Z"
_DETAILS: Final[dict[str, Json]] = {
    "parent_model": "",
    "format": MODEL,
    "family": MODEL,
    "families": [MODEL],
    "parameter_size": "",
    "quantization_level": "",
}
_LISTED: Final[dict[str, Json]] = {
    "name": TAGGED,
    "model": TAGGED,
    "modified_at": SINCE,
    "size": 0,
    "digest": DIGEST,
    "details": _DETAILS,
}


class ChatMessage(Sent):
    """What somebody said."""

    role: str
    content: str | None = None
    images: list[str] | None = None
    """Base64 each."""


class ChatRequest(Sent):
    """A request for an answer; without messages it asks to load the model, which needs nothing here."""

    model: str = Field(max_length=500)
    messages: list[ChatMessage] | None = None
    stream: bool | None = None
    tools: list[Any] | None = None
    format: str | dict[str, Any] | None = None
    keep_alive: float | str | None = None


class ShowRequest(Sent):
    """A request to describe a model."""

    model: str = ""
    name: str = ""
    """Its older name."""


def router(asking: Asking, programs: Programs, bodies: Bodies, beat_seconds: float = BEAT_SECONDS) -> APIRouter:
    """Return the routes; `beat_seconds` is between two signs of life of an answer."""
    routes = APIRouter(prefix="/api", tags=["Ollama"], responses=REFUSALS)

    async def answered(request: Request, caller: Caller) -> Response:
        sent = await bodies.read(request, ChatRequest)
        if not sent.messages:
            is_over = sent.keep_alive in (0, "0", "0s", "0m")
            ended: dict[str, Json] = {"done": True, "done_reason": "unload" if is_over else "load"}
            return JSONResponse(_part(sent.model, "") | ended)
        question = await _question(sent, caller, request, asking, programs)
        writing = Whole(sent.model) if sent.stream is False else Streamed(sent.model)
        return Answer(asking.ask(question), writing, refusal, question.text, beat_seconds)

    async def shown(request: Request) -> Response:
        sent = await bodies.read(request, ShowRequest)
        if (name := sent.model or sent.name) not in (MODEL, TAGGED):
            return JSONResponse({"error": f"model '{name[:100]}' not found"}, 404)
        return JSONResponse(_shown(asking))

    @routes.post("/chat", openapi_extra=documented(ChatRequest))
    async def chat(request: Request, caller: Asks) -> Response:
        """Answer the last message, streamed or whole."""
        return await or_refused(answered(request, caller), refusal)

    @routes.get("/tags")
    async def tags(caller: Asks) -> Response:
        """List the one model."""
        return JSONResponse({"models": [_LISTED]})

    @routes.get("/ps")
    async def ps(caller: Asks) -> Response:
        """List the one model as loaded: it always is."""
        never = datetime.max.replace(microsecond=0, tzinfo=UTC)
        beside: dict[str, Json] = {"expires_at": _iso(never), "size_vram": 0, "context_length": asking.window()}
        listed = {name: value for name, value in _LISTED.items() if name != "modified_at"}
        return JSONResponse({"models": [listed | beside]})

    @routes.post("/show", openapi_extra=documented(ShowRequest))
    async def show(request: Request, caller: Asks) -> Response:
        """Describe the one model."""
        return await or_refused(shown(request), refusal)

    @routes.get("/version")
    async def version(caller: Asks) -> Response:
        """Tell the version of the protocol."""
        return JSONResponse({"version": PROTOCOL})

    return routes


async def _question(
    sent: ChatRequest, caller: Caller, request: Request, asking: Asking, programs: Programs
) -> Question:
    """Return what is asked, with what is attached kept. Raises `Problem`, `NotAttached`."""
    if sent.format:
        raise Problem("format: answers are in words, and not in JSON", Exit.USAGE)
    messages = sent.messages or []
    said = [message for message in messages if message.role != "system"]
    if not said or said[-1].role != "user":
        raise Problem("messages: the last one should be the user's", Exit.USAGE)
    last = said[-1]
    images = [content_of(image, "images") for image in last.images or ()]
    if len(images) > MOST_ATTACHED:
        raise Problem(f"images: at most {MOST_ATTACHED} can be asked about at once", Exit.USAGE)
    told = [] if sent.tools else [message.content or "" for message in messages if message.role == "system"]
    question = asked(last.content or "", told, caller, request.headers, programs)
    return await with_attached(question, [("image", image) for image in images], asking)


@dataclass(slots=True)
class Streamed(Writing):
    """A JSON object a line, each with some words and who speaks."""

    model: str
    begun: float = field(default_factory=time.perf_counter)
    """Seconds."""
    media_type = "application/x-ndjson"

    def piece(self, text: str) -> bytes:
        """Return some words."""
        return _line(_part(self.model, text) | {"done": False})

    def beat(self) -> bytes:
        """Return no words: an empty line would be no JSON, and Ollama's own SDK fails at one."""
        return self.piece("")

    def end(self, ending: Ending) -> bytes:
        """Return the last line: why it ended, and what it took."""
        return _line(_part(self.model, "") | _ended(ending, self.begun))

    def broken(self, sentence: str) -> bytes:
        """Return what went wrong, as the SDK raises it."""
        return _line({"error": sentence})


@dataclass(slots=True)
class Whole(WholeWriting):
    """One JSON object."""

    model: str
    begun: float = field(default_factory=time.perf_counter)
    """Seconds."""

    def end(self, ending: Ending) -> bytes:
        """Return it all."""
        return _line(_part(self.model, "".join(self.pieces)) | _ended(ending, self.begun))


def refusal(problem: Problem, status: int) -> Response:
    """Return what is refused as Ollama tells it."""
    return JSONResponse({"error": problem.sentence}, status)


def _part(model: str, text: str) -> dict[str, Json]:
    return {"model": model, "created_at": _iso(datetime.now(UTC)), "message": {"role": "assistant", "content": text}}


def _ended(ending: Ending, begun: float) -> dict[str, Json]:
    took = max(1, round((time.perf_counter() - begun) * 1e9))  # programs divide by it
    return {
        "done": True,
        "done_reason": "stop" if ending.is_whole else "length",
        "total_duration": took,
        "load_duration": 0,
        "prompt_eval_count": ending.figures.prompt_tokens,
        "prompt_eval_duration": 0,
        "eval_count": ending.figures.completion_tokens,
        "eval_duration": took,
    }


def _shown(asking: Asking) -> dict[str, Json]:
    about: dict[str, Json] = {"general.architecture": MODEL}
    if window := asking.window():
        about[f"{MODEL}.context_length"] = window
    return {
        "modelfile": "",
        "parameters": "",
        "template": "",
        "details": _DETAILS,
        "model_info": about,
        "capabilities": ["completion", *(["vision"] if asking.sees() else [])],
        "modified_at": SINCE,
    }


def _iso(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def _line(body: dict[str, Json]) -> bytes:
    return as_json(body) + b"\n"
