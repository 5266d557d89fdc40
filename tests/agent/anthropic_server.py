"""A local server that speaks Anthropic's messages with server-sent events, and refuses what Anthropic refuses."""

import json
import re
from base64 import b64decode
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from tests.agent.provider_server import Part, ProviderServer

_ID = re.compile(r"[a-zA-Z0-9_-]+")


def thinking(words: str, signature: str) -> Part:
    return {"type": "thinking", "thinking": words, "signature": signature}


def said(words: str) -> Part:
    return {"type": "text", "text": words}


def use(identifier: str, name: str, arguments: Mapping[str, Any]) -> Part:
    return {"type": "tool_use", "id": identifier, "name": name, "input": dict(arguments)}


def failed(words: str) -> Part:
    """Return an error in place of the rest of an answer."""
    return {"type": "error", "error": {"type": "overloaded_error", "message": words}}


class AnthropicServer(ProviderServer):
    """Anthropic's messages; each answer is a list of content blocks."""

    path = "/v1/messages"
    key_header = "x-api-key"
    overloaded = (529, "Overloaded")

    @property
    def url(self) -> str:
        return self.root

    def complaint(self, body: Mapping[str, Any]) -> str | None:
        if not isinstance(body.get("max_tokens"), int):
            return "max_tokens: missing"
        messages = body.get("messages") or []
        roles = [message["role"] for message in messages]
        if not roles or roles[0] != "user" or "system" in roles:
            return "messages: first message must use the user role, and none the system's"
        if any(one == after for one, after in pairwise(roles)):
            return "messages: roles must alternate"
        shown = [block["source"] for message in messages for block in _blocks(message) if block["type"] == "image"]
        if not all(map(_is_image, shown)):
            return "image.source: no image in base64"
        for position, message in enumerate(messages):
            after = messages[position + 1] if position + 1 < len(messages) else {"content": []}
            if wrong := _complaint_of(_blocks(message), message["role"], _blocks(after)):
                return f"messages.{position}: {wrong}"
        return None

    def steps(self, parts: Sequence[Part]) -> list[bytes]:
        usage = {"input_tokens": 5, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 5, "output_tokens": 1}
        opened = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude",
            "content": [],
            "usage": usage,
        }
        steps = [_event("message_start", message=opened), _event("ping")]
        for index, block in enumerate(parts):
            if block["type"] == "error":
                return [*steps, _event("error", **block)]
            steps += _steps_of(index, block)
        why = "tool_use" if any(block["type"] == "tool_use" for block in parts) else "end_turn"
        steps.append(_event("message_delta", delta={"stop_reason": why}, usage={"output_tokens": 12}))
        return [*steps, _event("message_stop")]

    def error(self, status: int, message: str) -> Mapping[str, Any]:
        return {"type": "error", "error": {"type": "error", "message": message}}


def _complaint_of(blocks: Sequence[Part], role: str, following: Sequence[Part]) -> str | None:
    if not blocks:
        return "content must not be empty"
    if any(block["type"] == "text" and not block["text"].strip() for block in blocks):
        return "text content blocks must be non-empty"
    if any(block["type"] == "thinking" and not block.get("signature") for block in blocks):
        return "thinking.signature: field required"
    for block in blocks:
        if block["type"] == "tool_use" and not _ID.fullmatch(block["id"]):
            return f"tool_use.id: {block['id']!r} does not match"
    used = [block["id"] for block in blocks if block["type"] == "tool_use"]
    results = [block["tool_use_id"] for block in following if block["type"] == "tool_result"]
    if role == "assistant" and sorted(used) != sorted(results):
        return f"tool_use ids {used} were found without tool_result blocks immediately after: {results}"
    return None


def _is_image(source: Mapping[str, Any]) -> bool:
    kinds = {"image/png", "image/jpeg", "image/webp", "image/gif"}
    is_known = source["type"] == "base64" and source["media_type"] in kinds
    return is_known and len(source["data"]) <= 5_242_880 and bool(b64decode(source["data"], validate=True))


def _blocks(message: Mapping[str, Any]) -> list[Part]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _steps_of(index: int, block: Part) -> list[bytes]:
    empty = {**block, **{key: "" for key in ("text", "thinking", "signature") if key in block}}
    empty |= {"input": {}} if block["type"] == "tool_use" else {}
    begun = _event("content_block_start", index=index, content_block=empty)
    pieces = [_event("content_block_delta", index=index, delta=delta) for delta in _deltas(block)]
    return [begun, *pieces, _event("content_block_stop", index=index)]


def _deltas(block: Part) -> list[dict[str, str]]:
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
    return f"event: {kind}\ndata: {json.dumps({**body, 'type': kind})}\n\n".encode()
