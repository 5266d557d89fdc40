"""Ollama's own protocol over the scripted server: what /api/chat takes and gives, and its rules of a request.

By api/types.go and server/routes.go of 2026: messages with arguments as objects, answers as lines of JSON in which
every call is whole, the last with `done`, its reason and the counts.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec.structs import replace

from tests.agent.openai_script import DONE, KEEP_ALIVE, Scripted, Step

NATIVE: Final = {"Content-Type": "application/x-ndjson"}

_FIELDS: Final = {"model", "stream", "keep_alive", "truncate", "shift", "think", "options", "tools", "messages"}
_OF_MESSAGE: Final = {"role", "content", "thinking", "images", "tool_calls", "tool_name", "tool_call_id"}


def line(message: Mapping[str, Any] | None = None, **more: Any) -> bytes:
    """Return one line of a stream."""
    body = {"model": "m", "created_at": "2026-11-22T07:00:00Z", "message": {"role": "assistant", **(message or {})}}
    return json.dumps({**body, "done": False, **more}, ensure_ascii=False).encode() + b"\n"


def done(reason: str = "stop", prompt: int = 0, answer: int = 0) -> bytes:
    """Return the last line of an answer."""
    return line({"content": ""}, done=True, done_reason=reason, prompt_eval_count=prompt, eval_count=answer)


def called(name: str, arguments: Mapping[str, Any], **more: Any) -> bytes:
    """Return a line with one call; older servers give it no id."""
    return line({"content": "", "tool_calls": [{"function": {"name": name, "arguments": arguments}, **more}]})


def native(*lines: Step, status: int = 200) -> Scripted:
    """Return an answer of exactly these lines."""
    return Scripted(lines, status, NATIVE)


def native_error(status: int, words: str) -> Scripted:
    """Return an error as Ollama words it."""
    return native(json.dumps({"error": words}).encode(), status=status)


def complaint(body: Mapping[str, Any]) -> str | None:
    """Return why Go's decoder, or the handler, would refuse the request; None when it is right."""
    if strange := set(body) - _FIELDS:
        return f"{min(strange)}: is not Ollama's"
    if not isinstance(body.get("options", {}).get("num_ctx"), int):
        return "options.num_ctx: is not set"
    return next(filter(None, map(_complaint_of_message, body["messages"])), None)


def _complaint_of_message(message: Mapping[str, Any]) -> str | None:
    if strange := set(message) - _OF_MESSAGE:
        return f"messages: {min(strange)} is not Ollama's"
    if not isinstance(message.get("content"), str):
        return "messages: content is no text"
    if any(not isinstance(call["function"]["arguments"], dict) for call in message.get("tool_calls", ())):
        return "messages: arguments are no object"
    if message["role"] == "tool" and not message.get("tool_name"):
        return "messages: a result without the name of its tool"
    return None


def in_openai_words(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request as it would be in OpenAI's form, for the rules that hold for both."""
    messages = []
    for message in body["messages"]:
        entry = {key: message[key] for key in ("role", "content", "tool_call_id") if key in message}
        if calls := message.get("tool_calls"):
            entry["content"] = entry["content"] or None
            entry["tool_calls"] = [
                {
                    "id": call["id"],
                    "type": "function",
                    "function": {
                        "name": call["function"]["name"],
                        "arguments": json.dumps(call["function"]["arguments"]),
                    },
                }
                for call in calls
            ]
        messages.append(entry)
    tools = {"tools": body["tools"]} if "tools" in body else {}
    return {"model": body["model"], "messages": messages, "stream_options": {"include_usage": True}, **tools}


def as_native(scripted: Scripted) -> Scripted:
    """Return an answer that is scripted in OpenAI's words as Ollama gives it; any other as it is."""
    kind = scripted.headers.get("Content-Type", "")
    if scripted.status != 200 and kind == "application/json":
        (body,) = scripted.steps
        assert isinstance(body, bytes)
        words = json.loads(body)["error"]["message"]
        return replace(scripted, steps=(json.dumps({"error": words}).encode(),))
    return replace(scripted, steps=tuple(_lines(scripted)), headers=NATIVE) if kind == "text/event-stream" else scripted


def _lines(scripted: Scripted) -> Iterator[Step]:
    calls: dict[int, dict[str, Any]] = {}
    reason, counts = "", (0, 0)
    for step in scripted.steps:
        if not isinstance(step, bytes) or not step.startswith(b"data: "):
            yield from () if step == KEEP_ALIVE else (step,)
        elif step == DONE:
            for made in calls.values():
                yield called(made["name"], json.loads(made["arguments"] or "{}"), id=made["id"])
            yield from (done("length" if reason == "length" else "stop", *counts),) if reason else ()
        elif step == b"data: {nonsense\n\n":
            yield b"{nonsense\n"
        else:
            chunk = json.loads(step[len(b"data: ") :])
            if "error" in chunk:
                yield json.dumps({"error": chunk["error"]["message"]}).encode() + b"\n"
                continue
            if told := chunk.get("usage"):
                counts = told["prompt_tokens"], told["completion_tokens"]
            for choice in chunk["choices"]:
                reason = choice.get("finish_reason") or reason
                yield from _words(choice["delta"])
                _gather(choice["delta"], calls)


def _words(delta: Mapping[str, Any]) -> Iterator[bytes]:
    if delta.get("content"):
        yield line({"content": delta["content"]})
    if delta.get("reasoning_content"):
        yield line({"content": "", "thinking": delta["reasoning_content"]})


def _gather(delta: Mapping[str, Any], calls: dict[int, dict[str, Any]]) -> None:
    for piece in delta.get("tool_calls", ()):
        made = calls.setdefault(piece["index"], {"id": piece.get("id"), "name": "", "arguments": ""})
        made["name"] += piece["function"].get("name", "")
        made["arguments"] += piece["function"].get("arguments", "")
