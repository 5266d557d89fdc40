"""A local server that speaks Gemini's streamGenerateContent as an event stream, and refuses what Gemini refuses."""

import json
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from tests.agent.provider_server import Part, ProviderServer

MODEL = "gemini-3.8-flash"
_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")


def said(words: str) -> Part:
    return {"text": words}


def thought(words: str) -> Part:
    return {"text": words, "thought": True}


def called(name: str, arguments: Mapping[str, Any], signature: str = "") -> Part:
    signed = {"thoughtSignature": signature} if signature else {}
    return {"functionCall": {"name": name, "args": dict(arguments)}, **signed}


class GeminiServer(ProviderServer):
    """Gemini's streamGenerateContent; every signature it gave must come back with its call, as Gemini 3 demands."""

    path = f"/v1beta/models/{MODEL}:streamGenerateContent?alt=sse"
    key_header = "x-goog-api-key"
    overloaded = (503, "The model is overloaded.")

    def __init__(self) -> None:
        super().__init__()
        self._signed: dict[str, str] = {}
        """The arguments of each signed call, as JSON, to its signature."""

    @property
    def url(self) -> str:
        return f"{self.root}/v1beta"

    def complaint(self, body: Mapping[str, Any]) -> str | None:
        contents = body.get("contents") or []
        roles = [content.get("role") for content in contents]
        if not roles or roles[0] != "user" or set(roles) - {"user", "model"}:
            return f"contents: wrong roles {roles}"
        if any(one == after == "model" for one, after in pairwise(roles)):
            return f"contents: two of the model's in a row: {roles}"
        for position, content in enumerate(contents):
            after = contents[position + 1]["parts"] if position + 1 < len(contents) else []
            if wrong := _complaint_of(content["parts"], after, self._signed):
                return f"contents[{position}]: {wrong}"
        return None

    def steps(self, parts: Sequence[Part]) -> list[bytes]:
        for part in parts:
            if signature := part.get("thoughtSignature"):
                self._signed[_arguments(part["functionCall"])] = signature
        return [_step(part, is_last=place == len(parts)) for place, part in enumerate(parts, 1)]

    def error(self, status: int, message: str) -> Mapping[str, Any]:
        return {"error": {"code": status, "message": message, "status": "ERROR"}}


def _complaint_of(parts: Sequence[Part], following: Sequence[Part], signed: Mapping[str, str]) -> str | None:
    if not parts:
        return "parts must not be empty"
    calls = [_field(part, "functionCall") for part in parts if _field(part, "functionCall")]
    for part in parts:
        call = _field(part, "functionCall")
        if call and not _NAME.fullmatch(call["name"]):
            return f"invalid function name {call['name']!r}"
        known = signed.get(_arguments(call)) if call else None
        if known and _field(part, "thoughtSignature") != known:
            return f"function call {call['name']} is missing its thought_signature"
    answered = [_field(part, "functionResponse")["name"] for part in following if _field(part, "functionResponse")]
    if answered != [call["name"] for call in calls]:
        return f"function responses {answered} do not equal the function calls {[call['name'] for call in calls]}"
    return None


def _field(part: Part, name: str) -> Any:
    """Return a field by its name in JSON, which Google also takes with underscores."""
    return part.get(name) or part.get(re.sub(r"([A-Z])", lambda found: f"_{found[1].lower()}", name))


def _arguments(call: Mapping[str, Any]) -> str:
    return json.dumps(call["args"], sort_keys=True)


def _step(part: Part, *, is_last: bool) -> bytes:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": [part]}, "index": 0}
    if not is_last:
        return _event({"candidates": [candidate]})
    counts = {
        "promptTokenCount": 100,
        "cachedContentTokenCount": 90,
        "candidatesTokenCount": 12,
        "totalTokenCount": 112,
    }
    return _event({"candidates": [candidate | {"finishReason": "STOP"}], "usageMetadata": counts})


def _event(body: Mapping[str, Any]) -> bytes:
    return f"data: {json.dumps(body)}\r\n\r\n".encode()
