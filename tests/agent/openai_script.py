"""What a scripted model server answers: whole answers, and every way in which one can be damaged."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field

PIECE = 4
"""Characters of text in one chunk, about a token."""

DONE = b"data: [DONE]\n\n"
KEEP_ALIVE = b": keep-alive\n\n"


class Gate:
    """Holds an answer back at one place until the test opens it."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        """Set when everything before the gate was sent."""
        self._opened = asyncio.Event()

    @property
    def is_open(self) -> bool:
        """Whether the rest may pass."""
        return self._opened.is_set()

    def open(self) -> None:
        """Let the rest pass."""
        self._opened.set()

    async def passed(self) -> None:
        """Say that the gate is reached, and wait until it is opened."""
        self.reached.set()
        await self._opened.wait()


class Reset(Struct, frozen=True):
    """Close the connection here, in the middle of the body, as a killed server does."""

    is_hard: bool = False
    """With a TCP reset, which also takes from the client what it has not read yet (put a gate before it)."""


class Stall(Struct, frozen=True):
    """Send nothing more and keep the connection open."""


Step = bytes | Gate | Reset | Stall


class Scripted(Struct, frozen=True):
    """One answer of the server; without steps an empty body."""

    steps: Sequence[Step] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "text/event-stream"})


def chunk(delta: Mapping[str, Any], finish_reason: str | None = None, **more: Any) -> bytes:
    """Return one event of a stream."""
    choice = {"index": 0, "delta": dict(delta), "finish_reason": finish_reason}
    return event({"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "m", "choices": [choice], **more})


def event(body: Mapping[str, Any]) -> bytes:
    """Return any JSON as one event."""
    return b"data: " + json.dumps(body).encode() + b"\n\n"


def usage(prompt: int, cached: int, completion: int) -> bytes:
    """Return the chunk that ends a stream when `include_usage` is asked for."""
    counts = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": cached},
    }
    body = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "m", "choices": [], "usage": counts}
    return event(body)


def call_piece(index: int | None = 0, **fields: Any) -> bytes:
    """Return a chunk with one piece of a tool call; `id`, `name` and `arguments` as the wire has them, or left out."""
    function = {key: fields[key] for key in ("name", "arguments") if key in fields}
    piece: dict[str, Any] = {"function": function}
    if index is not None:
        piece["index"] = index
    if "id" in fields:
        piece |= {"id": fields["id"], "type": "function"}
    return chunk({"tool_calls": [piece]})


class ScriptedCall(Struct, frozen=True):
    """A tool call to be streamed in pieces; gates stand between the pieces of its arguments."""

    name: str
    arguments: Sequence[str | Gate]
    id: str


_count = iter(range(1, 1_000_000))


def call(name: str, arguments: Mapping[str, Any] | str, id: str | None = None) -> ScriptedCall:
    """Return a call; arguments given as text are sent as they are, malformed or not."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return ScriptedCall(name, (text,), f"call_{next(_count)}" if id is None else id)


def stream(*steps: Step) -> Scripted:
    """Return an answer of exactly these steps."""
    return Scripted(steps)


def in_one_piece(said: str) -> Scripted:
    """Return an answer in bare text that comes at once, as a gateway's own words do."""
    return stream(chunk({"role": "assistant", "content": ""}), chunk({"content": said}), chunk({}, "stop"), DONE)


def text(*parts: str | Gate, finish_reason: str = "stop") -> Scripted:
    """Return an answer in bare text, cut into small chunks; a gate between two parts holds the rest back."""
    steps: list[Step] = [chunk({"role": "assistant", "content": ""})]
    for part in parts:
        steps += [part] if isinstance(part, Gate) else [chunk({"content": piece}) for piece in _pieces(part)]
    return Scripted([*steps, chunk({}, finish_reason), DONE])


def calls(*made: ScriptedCall, said: str = "") -> Scripted:
    """Return an answer of tool calls, the arguments in small pieces, after some bare text if given."""
    steps: list[Step] = [chunk({"role": "assistant", "content": None})]
    steps += [chunk({"content": piece}) for piece in _pieces(said)]
    for index, one in enumerate(made):
        steps.append(call_piece(index, id=one.id, name=one.name, arguments=""))
        for part in one.arguments:
            if isinstance(part, Gate):
                steps.append(part)
            else:
                steps += [call_piece(index, arguments=piece) for piece in _pieces(part)]
    return Scripted([*steps, chunk({}, "tool_calls"), DONE])


def reply(*parts: str | Gate, also: Sequence[ScriptedCall] = ()) -> Scripted:
    """Return an answer that calls `reply` with the joined text, and other calls after it.

    `reply("Hello there. ", gate, "How are you?")` holds the second sentence back until the gate is opened.
    """
    inside = [part if isinstance(part, Gate) else json.dumps(part, ensure_ascii=False)[1:-1] for part in parts]
    return calls(ScriptedCall("reply", ('{"text": "', *inside, '"}'), f"call_{next(_count)}"), *also)


def error(status: int, message: str, headers: Mapping[str, str] | None = None) -> Scripted:
    """Return an error as OpenAI words it."""
    body = json.dumps({"error": {"message": message, "type": "error", "param": None, "code": None}}).encode()
    return Scripted((body,), status, {"Content-Type": "application/json", **(headers or {})})


def _pieces(whole: str) -> list[str]:
    return [whole[start : start + PIECE] for start in range(0, len(whole), PIECE)]
