"""A local server that speaks Anthropic's messages with server-sent events, and refuses what Anthropic refuses."""

import json
import re
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import TracebackType
from typing import Any, Self

from tests.agent.openai_server import OpenAiServer, Recorded, Scripted

_ID = re.compile(r"[a-zA-Z0-9_-]+")
Block = Mapping[str, Any]


def thinking(words: str, signature: str) -> Block:
    return {"type": "thinking", "thinking": words, "signature": signature}


def said(words: str) -> Block:
    return {"type": "text", "text": words}


def use(identifier: str, name: str, arguments: Mapping[str, Any]) -> Block:
    return {"type": "tool_use", "id": identifier, "name": name, "input": dict(arguments)}


class AnthropicServer:
    """`async with AnthropicServer() as server: server.enqueue([said("Hello.")]); …`; `requests` are the bodies."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.complaints: list[str] = []
        self.keys: set[str | None] = set()
        self._answers: deque[Sequence[Block]] = deque()
        self._http = OpenAiServer(pages={"/v1/messages": self._answer})

    @property
    def url(self) -> str:
        return self._http.url.removesuffix("/v1")

    def enqueue(self, *answers: Sequence[Block]) -> None:
        """Append answers, each a list of content blocks."""
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
        self.keys.add(request.headers.get("x-api-key"))
        if wrong := complaint(request.json):
            self.complaints.append(wrong)
            return _error(400, wrong)
        if not self._answers:
            return _error(529, "Overloaded")
        return Scripted(tuple(_steps(self._answers.popleft())))


def complaint(body: Mapping[str, Any]) -> str | None:
    """Return why Anthropic would refuse the request, None when it is right."""
    if not isinstance(body.get("max_tokens"), int):
        return "max_tokens: missing"
    messages = body.get("messages") or []
    roles = [message["role"] for message in messages]
    if not roles or roles[0] != "user" or "system" in roles:
        return "messages: first message must use the user role, and none the system's"
    if any(one == after for one, after in pairwise(roles)):
        return "messages: roles must alternate"
    for position, message in enumerate(messages):
        after = messages[position + 1] if position + 1 < len(messages) else {"content": []}
        if wrong := _complaint_of(_blocks(message), message["role"], _blocks(after)):
            return f"messages.{position}: {wrong}"
    return None


def _complaint_of(blocks: Sequence[Block], role: str, following: Sequence[Block]) -> str | None:
    if not blocks:
        return "content must not be empty"
    for block in blocks:
        if block["type"] == "text" and not block["text"].strip():
            return "text content blocks must be non-empty"
        if block["type"] == "thinking" and not block.get("signature"):
            return "thinking.signature: field required"
        if block["type"] == "tool_use" and not _ID.fullmatch(block["id"]):
            return f"tool_use.id: {block['id']!r} does not match"
    used = [block["id"] for block in blocks if block["type"] == "tool_use"]
    results = [block["tool_use_id"] for block in following if block["type"] == "tool_result"]
    if role == "assistant" and sorted(used) != sorted(results):
        return f"tool_use ids {used} were found without tool_result blocks immediately after: {results}"
    return None


def _blocks(message: Mapping[str, Any]) -> list[Block]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _steps(blocks: Sequence[Block]) -> list[bytes]:
    usage = {"input_tokens": 5, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 5, "output_tokens": 1}
    opened = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "content": [], "usage": usage}
    steps = [_event("message_start", message=opened), _event("ping")]
    for index, block in enumerate(blocks):
        empty = {**block, **{key: "" for key in ("text", "thinking", "signature") if key in block}}
        empty |= {"input": {}} if block["type"] == "tool_use" else {}
        steps.append(_event("content_block_start", index=index, content_block=empty))
        steps += [_event("content_block_delta", index=index, delta=delta) for delta in _deltas(block)]
        steps.append(_event("content_block_stop", index=index))
    why = "tool_use" if any(block["type"] == "tool_use" for block in blocks) else "end_turn"
    steps.append(_event("message_delta", delta={"stop_reason": why}, usage={"output_tokens": 12}))
    return [*steps, _event("message_stop")]


def _deltas(block: Block) -> list[dict[str, str]]:
    if block["type"] == "tool_use":
        text = json.dumps(block["input"], ensure_ascii=False)
        return [{"type": "input_json_delta", "partial_json": piece} for piece in _pieces(text)]
    if block["type"] == "thinking":
        thought = [{"type": "thinking_delta", "thinking": piece} for piece in _pieces(block["thinking"])]
        return [*thought, {"type": "signature_delta", "signature": block["signature"]}]
    return [{"type": "text_delta", "text": piece} for piece in _pieces(block["text"])]


def _pieces(text: str) -> list[str]:
    return [text[at : at + 5] for at in range(0, len(text), 5)]


def _event(kind: str, **body: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **body})}\n\n".encode()


def _error(status: int, message: str) -> Scripted:
    body = {"type": "error", "error": {"type": "error", "message": message}}
    return Scripted((json.dumps(body).encode(),), status, {"Content-Type": "application/json"})
