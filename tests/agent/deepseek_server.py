"""A local server that speaks DeepSeek's chat completions in thinking mode, and refuses what DeepSeek refuses."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.agent.openai_rules import complaint
from tests.agent.provider_server import Part, ProviderServer

MODEL = "deepseek-v4-pro"
_FIELDS = {"role", "content", "tool_calls", "tool_call_id", "name", "reasoning_content"}
_PIECE = 6


def thought(words: str) -> Part:
    return {"reasoning_content": words}


def said(words: str) -> Part:
    return {"content": words}


def called(identifier: str, name: str, arguments: Mapping[str, Any]) -> Part:
    text = json.dumps(arguments, ensure_ascii=False)
    return {"call": {"id": identifier, "type": "function", "function": {"name": name, "arguments": text}}}


class DeepSeekServer(ProviderServer):
    """DeepSeek's rules as its page "Thinking Mode" has them (2026-11).

    Between two messages of the user, where the model called tools, the reasoning of every answer must come back in all
    later requests; where it called none, it may come back and is ignored.
    """

    path = "/chat/completions"
    key_header = "authorization"
    overloaded = (503, "Service is too busy.")

    def __init__(self) -> None:
        super().__init__()
        self._given: dict[str, str] = {}
        """The reasoning of each answer, by its calls or its words."""

    @property
    def url(self) -> str:
        return self.root

    def complaint(self, body: Mapping[str, Any]) -> str | None:
        messages = body.get("messages") or []
        if wrong := complaint(body):
            return wrong
        for message in messages:
            if strange := set(message) - _FIELDS:
                return f"unknown field {min(strange)}"
        if body.get("thinking", {}).get("type") == "disabled":
            return None
        for turn in _turns(messages):
            if any(answer.get("tool_calls") for answer in turn) and not all(map(self._comes_back, turn)):
                return "The `reasoning_content` in the thinking mode must be passed back to the API."
        return None

    def steps(self, parts: Sequence[Part]) -> list[bytes]:
        thoughts = "".join(part.get("reasoning_content", "") for part in parts)
        words = "".join(part.get("content", "") for part in parts)
        calls = [part["call"] for part in parts if "call" in part]
        self._given[_key({"content": words, "tool_calls": calls})] = thoughts
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": None, "reasoning_content": ""}]
        deltas += [{"content": None, "reasoning_content": piece} for piece in _pieces(thoughts)]
        deltas += [{"content": piece, "reasoning_content": None} for piece in _pieces(words)]
        for index, call in enumerate(calls):
            function = call["function"]
            deltas.append({"tool_calls": [{**call, "index": index, "function": {**function, "arguments": ""}}]})
            deltas += [
                {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
                for piece in _pieces(function["arguments"])
            ]
        steps = [b": keep-alive\n\n", *(_chunk(delta) for delta in deltas)]
        last = _chunk({"content": "", "reasoning_content": None}, "tool_calls" if calls else "stop", usage=_USAGE)
        return [*steps, last, b"data: [DONE]\n\n"]

    def error(self, status: int, message: str) -> Mapping[str, Any]:
        kind = "invalid_request_error" if status == 400 else "server_error"
        return {"error": {"message": message, "type": kind, "param": None, "code": kind}}

    def _comes_back(self, answer: Mapping[str, Any]) -> bool:
        """Whether an answer has the reasoning that it was given with; of another model's answer with calls, any."""
        given = self._given.get(_key(answer))
        if given is None:
            return not answer.get("tool_calls") or isinstance(answer.get("reasoning_content"), str)
        return (answer.get("reasoning_content") or "") == given and ("reasoning_content" in answer or not given)


_USAGE = {
    "prompt_tokens": 100,
    "completion_tokens": 12,
    "total_tokens": 112,
    "prompt_cache_hit_tokens": 90,
    "prompt_cache_miss_tokens": 10,
    "prompt_tokens_details": {"cached_tokens": 90},
    "completion_tokens_details": {"reasoning_tokens": 5},
}


def _turns(messages: Sequence[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    """Yield the answers between each two messages of the user."""
    turn: list[Mapping[str, Any]] = []
    for message in messages:
        if message["role"] == "user":
            yield turn
            turn = []
        elif message["role"] == "assistant":
            turn.append(message)
    yield turn


def _key(answer: Mapping[str, Any]) -> str:
    calls = [call["id"] for call in answer.get("tool_calls") or ()]
    return json.dumps([answer.get("content") or "", calls])


def _pieces(text: str) -> list[str]:
    return [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]


def _chunk(delta: Mapping[str, Any], finish_reason: str | None = None, **more: Any) -> bytes:
    choice = {"index": 0, "delta": dict(delta), "logprobs": None, "finish_reason": finish_reason}
    body = {"id": "c0ffee", "object": "chat.completion.chunk", "created": 1_764_000_000, "model": MODEL}
    return b"data: " + json.dumps({**body, "choices": [choice], **more}, ensure_ascii=False).encode() + b"\n\n"
