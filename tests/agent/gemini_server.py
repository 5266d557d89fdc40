"""A local server that speaks Gemini's streamGenerateContent as an event stream, and refuses what Gemini refuses."""

import json
import re
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import TracebackType
from typing import Any, Self

from tests.agent.openai_server import OpenAiServer, Recorded, Scripted

MODEL = "gemini-3.8-flash"
_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")
Part = Mapping[str, Any]


def said(words: str) -> Part:
    return {"text": words}


def thought(words: str) -> Part:
    return {"text": words, "thought": True}


def called(name: str, arguments: Mapping[str, Any], signature: str = "") -> Part:
    signed = {"thoughtSignature": signature} if signature else {}
    return {"functionCall": {"name": name, "args": dict(arguments)}, **signed}


class GeminiServer:
    """`async with GeminiServer() as server: server.enqueue([said("Hello.")]); …`; `requests` are the bodies.

    Every signature it gave must come back with its call, as Gemini 3 demands.
    """

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.complaints: list[str] = []
        self.keys: set[str | None] = set()
        self._answers: deque[Sequence[Part]] = deque()
        self._signed: dict[str, str] = {}
        """What was called, as JSON, to its signature."""
        self._http = OpenAiServer(pages={f"/v1beta/models/{MODEL}:streamGenerateContent?alt=sse": self._answer})

    @property
    def url(self) -> str:
        return f"{self._http.url.removesuffix('/v1')}/v1beta"

    def enqueue(self, *answers: Sequence[Part]) -> None:
        """Append answers, each a list of parts."""
        self._answers.extend(answers)

    async def __aenter__(self) -> Self:
        await self._http.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.__aexit__(kind, raised, trace)
        if kind is None and self.complaints:
            raise AssertionError(f"the server was sent illegal requests: {self.complaints}")

    def _answer(self, request: Recorded) -> Scripted:
        self.requests.append(request.json)
        self.keys.add(request.headers.get("x-goog-api-key"))
        if wrong := complaint(request.json, self._signed):
            self.complaints.append(wrong)
            return _error(400, wrong)
        if not self._answers:
            return _error(503, "The model is overloaded.")
        parts = self._answers.popleft()
        for part in parts:
            if signature := part.get("thoughtSignature"):
                self._signed[json.dumps(part["functionCall"]["args"], sort_keys=True)] = signature
        return Scripted(tuple(_steps(parts)))


def complaint(body: Mapping[str, Any], signed: Mapping[str, str]) -> str | None:
    """Return why Gemini would refuse the request, None when it is right."""
    contents = body.get("contents") or []
    roles = [content.get("role") for content in contents]
    if not roles or roles[0] != "user" or set(roles) - {"user", "model"}:
        return f"contents: wrong roles {roles}"
    if any(one == after == "model" for one, after in pairwise(roles)):
        return f"contents: two of the model's in a row: {roles}"
    for position, content in enumerate(contents):
        after = contents[position + 1]["parts"] if position + 1 < len(contents) else []
        if wrong := _complaint_of(content["parts"], after, signed):
            return f"contents[{position}]: {wrong}"
    return None


def _complaint_of(parts: Sequence[Part], following: Sequence[Part], signed: Mapping[str, str]) -> str | None:
    if not parts:
        return "parts must not be empty"
    calls = [_field(part, "functionCall") for part in parts if _field(part, "functionCall")]
    for part in parts:
        call = _field(part, "functionCall")
        if call and not _NAME.fullmatch(call["name"]):
            return f"invalid function name {call['name']!r}"
        known = signed.get(json.dumps(call["args"], sort_keys=True)) if call else None
        if known and _field(part, "thoughtSignature") != known:
            return f"function call {call['name']} is missing its thought_signature"
    answered = [_field(part, "functionResponse")["name"] for part in following if _field(part, "functionResponse")]
    if answered != [call["name"] for call in calls]:
        return f"function responses {answered} do not equal the function calls {[call['name'] for call in calls]}"
    return None


def _field(part: Part, name: str) -> Any:
    """Return a field by its name in JSON, which Google also takes with underscores."""
    return part.get(name) or part.get(re.sub(r"([A-Z])", lambda found: f"_{found[1].lower()}", name))


def _steps(parts: Sequence[Part]) -> list[bytes]:
    steps = []
    for number, part in enumerate(parts):
        is_last = number == len(parts) - 1
        candidate = {"content": {"role": "model", "parts": [part]}, "index": 0}
        body: dict[str, Any] = {"candidates": [candidate | ({"finishReason": "STOP"} if is_last else {})]}
        if is_last:
            counts = {"promptTokenCount": 100, "cachedContentTokenCount": 90, "candidatesTokenCount": 12}
            body["usageMetadata"] = {**counts, "totalTokenCount": 112}
        steps.append(f"data: {json.dumps(body)}\r\n\r\n".encode())
    return steps


def _error(status: int, message: str) -> Scripted:
    body = {"error": {"code": status, "message": message, "status": "ERROR"}}
    return Scripted((json.dumps(body).encode(),), status, {"Content-Type": "application/json"})
