"""A local server that speaks OpenRouter's chat completions, and refuses what OpenRouter and its providers refuse."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.agent.openai_rules import complaint
from tests.agent.provider_server import Part, ProviderServer

MODEL = "anthropic/claude-sonnet-5"
_PIECE = 6
_PROCESSING = b": OPENROUTER PROCESSING\n\n"
COST = 0.00123


def thought(words: str, signature: str) -> Part:
    return {"thought": {"type": "reasoning.text", "text": words, "format": "anthropic-claude-v1", "index": 0,
                        "signature": signature}}  # fmt: skip


def hidden(data: str) -> Part:
    return {"thought": {"type": "reasoning.encrypted", "data": data, "format": "anthropic-claude-v1", "index": 1}}


def said(words: str) -> Part:
    return {"content": words}


def called(identifier: str, name: str, arguments: Mapping[str, Any]) -> Part:
    text = json.dumps(arguments, ensure_ascii=False)
    return {"call": {"id": identifier, "type": "function", "function": {"name": name, "arguments": text}}}


def broken(message: str) -> Part:
    """Let the provider behind OpenRouter fail here, in the middle of a stream that began with 200."""
    return {"error": {"code": 502, "message": message, "metadata": {"provider_name": "Anthropic"}}}


class OpenRouterServer(ProviderServer):
    """OpenRouter; the details of reasoning must come back with their answer as they were, whole and once."""

    path = "/api/v1/chat/completions"
    key_header = "authorization"
    overloaded = (429, "Rate limit exceeded")

    def __init__(self) -> None:
        super().__init__()
        self._given: dict[str, list[Any]] = {}
        """The details of the reasoning of each answer with calls, by its first call."""

    @property
    def url(self) -> str:
        return f"{self.root}/api/v1"

    def complaint(self, body: Mapping[str, Any]) -> str | None:
        if wrong := complaint(body):
            return wrong
        for message in body["messages"]:
            calls = message.get("tool_calls") or ()
            given = self._given.get(calls[0]["id"]) if calls else None
            if given and message.get("reasoning_details") != given:
                return "Provider returned error: thinking blocks cannot be modified"
        return None

    def steps(self, parts: Sequence[Part]) -> list[bytes]:
        calls = [part["call"] for part in parts if "call" in part]
        details = [part["thought"] for part in parts if "thought" in part]
        if calls and details:
            self._given[calls[0]["id"]] = details
        steps = [_PROCESSING, _PROCESSING, _chunk({"role": "assistant", "content": ""})]
        for part in parts:
            if "error" in part:
                failed = _chunk({"role": "assistant", "content": ""}, "error", error=part["error"])
                return [*steps, failed, b"data: [DONE]\n\n"]
            steps += [_chunk(delta) for delta in _deltas(part, calls)]
            steps.append(_PROCESSING)
        reason = "tool_calls" if calls else "stop"
        # Some models' streams are ended twice.
        steps += [_chunk({"role": "assistant", "content": ""}, reason)] * 2
        return [*steps, _chunk({"role": "assistant", "content": ""}, usage=_USAGE), b"data: [DONE]\n\n"]

    def error(self, status: int, message: str) -> Mapping[str, Any]:
        return {"error": {"message": message, "code": status}}


_USAGE = {
    "prompt_tokens": 100,
    "completion_tokens": 12,
    "total_tokens": 112,
    "cost": COST,
    "is_byok": False,
    "prompt_tokens_details": {"cached_tokens": 90},
    "completion_tokens_details": {"reasoning_tokens": 5},
}


def _deltas(part: Part, calls: Sequence[Any]) -> list[dict[str, Any]]:
    if "content" in part:
        return [{"role": "assistant", "content": piece} for piece in _pieces(part["content"])]
    if "call" in part:
        index, function = calls.index(part["call"]), part["call"]["function"]
        begun = {**part["call"], "index": index, "function": {**function, "arguments": ""}}
        rest = [{"index": index, "function": {"arguments": piece}} for piece in _pieces(function["arguments"])]
        return [{"role": "assistant", "content": None, "tool_calls": [piece]} for piece in (begun, *rest)]
    detail = dict(part["thought"])
    signature, text = detail.pop("signature", None), detail.pop("text", None)
    if text is None:
        return [{"role": "assistant", "content": "", "reasoning_details": [detail]}]
    deltas: list[dict[str, Any]] = [
        {"role": "assistant", "content": "", "reasoning": piece, "reasoning_details": [{**detail, "text": piece}]}
        for piece in _pieces(text)
    ]
    signed = {**detail, "signature": signature}
    return [*deltas, {"role": "assistant", "content": "", "reasoning": None, "reasoning_details": [signed]}]


def _pieces(text: str) -> list[str]:
    return [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]


def _chunk(delta: Mapping[str, Any], finish_reason: str | None = None, **more: Any) -> bytes:
    choice = {"index": 0, "delta": dict(delta), "finish_reason": finish_reason, "native_finish_reason": finish_reason}
    body = {"id": "gen-1", "provider": "Anthropic", "model": MODEL, "object": "chat.completion.chunk"}
    whole = {**body, "created": 1_764_000_000, "choices": [{**choice, "logprobs": None}], **more}
    return b"data: " + json.dumps(whole, ensure_ascii=False).encode() + b"\n\n"
