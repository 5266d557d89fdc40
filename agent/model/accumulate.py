"""Deltas as they come over the wire become our stream of items and, at the end, one whole message."""

import json
import re
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

import jiter

from agent.event import new_id
from agent.model.interface import Answer, ArgumentsDelta, StreamItem, TextDelta, ToolCallStarted
from agent.model.messages import Json, Message, ToolCall, Usage
from agent.model.wire import CALL_FIELDS, whole_characters

_TEXT_FIELDS = ("reasoning_content", "reasoning")
"""Reasoning as DeepSeek, vLLM and llama.cpp name it, and as OpenRouter and Ollama do; comes as text."""

_LIST_FIELDS = ("reasoning_details",)
"""OpenRouter's signed reasoning; comes in pieces of a list, to be sent back in the same order."""

_OWN_CALL_FIELDS = ("extra_content", "provider_specific_fields")
"""Where Gemini's thought signatures come, in its own OpenAI dialect and through litellm."""

_HIGH_SURROGATE_AT_END = re.compile("[\ud800-\udbff]$")


class Accumulator:
    """Takes one answer's chunks in order of arrival. The pieces may be cut anywhere; whole characters come out."""

    def __init__(self, taken_ids: AbstractSet[str] = frozenset()) -> None:
        self._taken = set(taken_ids)
        self._text = _Growing()
        self._calls: list[_Call] = []
        self._open: dict[int, _Call] = {}
        self._key = 0
        self._text_fields: dict[str, _Growing] = {}
        self._list_fields: dict[str, list[Json]] = {}
        self._usage = Usage()
        self.finish_reason = ""
        """As the wire said it; empty until it did."""

    def feed(self, chunk: Mapping[str, Json]) -> Iterator[StreamItem]:
        """Yield what one chunk adds; a chunk may add nothing. Fields of an unexpected type are ignored."""
        if isinstance(usage := chunk.get("usage"), dict):
            self._usage = read_usage(usage)
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict):
            return
        if isinstance(reason := choice.get("finish_reason"), str):
            self.finish_reason = reason
        # A server that does not stream sends one whole `message` instead.
        delta = choice.get("delta") or choice.get("message")
        if isinstance(delta, dict):
            yield from self._feed_delta(delta)

    def finish(self) -> Iterator[StreamItem]:
        """Yield what was held back and the `Answer`."""
        if rest := self._text.flush():
            yield TextDelta(rest)
        for call in self._calls:
            yield from call.flush()
        yield Answer(self.message(), self._usage, self._reason())

    def message(self) -> Message:
        """Return the message as far as it came."""
        calls = tuple(ToolCall(call.id, call.name, call.arguments.text) for call in self._calls)
        extra: dict[str, Json] = {key: grown.text for key, grown in self._text_fields.items()}
        extra.update(self._list_fields)
        if own := {call.id: call.own_fields for call in self._calls if call.own_fields}:
            extra[CALL_FIELDS] = dict(own)
        return Message("assistant", self._text.text, calls, extra=extra)

    def _reason(self) -> str:
        if self.finish_reason in {"length", "content_filter"}:
            return self.finish_reason
        return "tool_calls" if self._calls else "stop"

    def _feed_delta(self, delta: Mapping[str, Json]) -> Iterator[StreamItem]:
        for key in _TEXT_FIELDS:
            if isinstance(piece := delta.get(key), str):
                self._text_fields.setdefault(key, _Growing()).add(piece)
        for key in _LIST_FIELDS:
            if isinstance(pieces := delta.get(key), list):
                self._list_fields.setdefault(key, []).extend(pieces)
        if text := self._text.add(_words(delta.get("content") or delta.get("refusal"))):
            yield TextDelta(text)
        calls = delta.get("tool_calls")
        for piece in calls if isinstance(calls, list) else ():
            if isinstance(piece, dict):
                yield from self._feed_call(piece)

    def _feed_call(self, piece: Mapping[str, Json]) -> Iterator[StreamItem]:
        function = piece.get("function")
        named = function if isinstance(function, dict) else {}
        identifier, name = _string(piece.get("id")), _string(named.get("name"))
        arguments = _arguments(named.get("arguments"))
        index = piece.get("index")
        self._key = index if isinstance(index, int) else self._key
        call = self._open.get(self._key)
        if call is None or call.is_over_at(identifier, name, arguments):
            call = self._begin(identifier, call.name if call and not name else name)
        for key in _OWN_CALL_FIELDS:
            if value := piece.get(key):
                call.own_fields[key] = value
        yield from call.add(name, arguments)

    def _begin(self, wire_id: str, name: str) -> "_Call":
        is_usable = wire_id and wire_id not in self._taken
        identifier = wire_id if is_usable else f"call_{new_id()[:24]}"
        self._taken.add(identifier)
        call = _Call(len(self._calls), identifier, wire_id, name)
        self._calls.append(call)
        self._open[self._key] = call
        return call


@dataclass(slots=True)
class _Call:
    index: int
    id: str
    wire_id: str
    name: str
    arguments: "_Growing" = field(default_factory=lambda: _Growing())
    own_fields: dict[str, Json] = field(default_factory=dict)
    is_told: bool = False

    def is_over_at(self, identifier: str, name: str, arguments: str) -> bool:
        """Whether this piece begins another call, although the wire may give it the same index.

        Servers exist that number two calls alike, and others that repeat the header of one call in every piece.
        """
        if identifier and self.wire_id:
            return identifier != self.wire_id
        if name and self.name:
            return name != self.name or self.arguments.is_json
        return bool(arguments.strip()) and self.arguments.is_json

    def add(self, name: str, arguments: str) -> Iterator[StreamItem]:
        """Take a piece; the call is told as soon as its name is known, what came before that afterwards."""
        self.name = self.name or name
        fresh = self.arguments.add(arguments)
        if self.is_told:
            if fresh:
                yield ArgumentsDelta(self.index, fresh)
        elif self.name:
            yield from self._tell()

    def flush(self) -> Iterator[StreamItem]:
        """Tell what was held back."""
        rest = self.arguments.flush()
        if not self.is_told:
            yield from self._tell()
        elif rest:
            yield ArgumentsDelta(self.index, rest)

    def _tell(self) -> Iterator[StreamItem]:
        self.is_told = True
        yield ToolCallStarted(self.index, self.id, self.name)
        if self.arguments.text:
            yield ArgumentsDelta(self.index, self.arguments.text)


class _Growing:
    """A text that comes in pieces, some of which end in the middle of a surrogate pair."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._held = ""

    @property
    def text(self) -> str:
        """What came so far, in whole characters."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    @property
    def is_json(self) -> bool:
        """Whether it is a whole JSON value, so that anything more must belong to another."""
        if not (self._pieces and self._pieces[-1].rstrip().endswith("}")):
            return False
        try:
            jiter.from_json(self.text.encode())
        except ValueError:
            return False
        return True

    def add(self, piece: str) -> str:
        """Append a piece and return what it adds."""
        if not piece:
            return ""
        piece = self._held + piece
        half = _HIGH_SURROGATE_AT_END.search(piece)
        self._held = half.group() if half else ""
        return self._keep(piece[: half.start()] if half else piece)

    def flush(self) -> str:
        """Give up waiting for the other half of a character and return what that adds."""
        held, self._held = self._held, ""
        return self._keep(held)

    def _keep(self, text: str) -> str:
        whole = whole_characters(text)
        if whole:
            self._pieces.append(whole)
        return whole


def read_usage(usage: Mapping[str, Json]) -> Usage:
    """Return the counts, wherever the provider puts what came out of its cache (OpenAI, DeepSeek, Moonshot)."""
    details = usage.get("prompt_tokens_details")
    nested = details.get("cached_tokens") if isinstance(details, dict) else None
    cached = nested or usage.get("prompt_cache_hit_tokens") or usage.get("cached_tokens")
    return Usage(_count(usage.get("prompt_tokens")), _count(cached), _count(usage.get("completion_tokens")))


def _count(value: Json) -> int:
    return int(value) if isinstance(value, int | float) else 0


def _string(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _arguments(value: Json) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)


def _words(content: Json) -> str:
    """Return the text of a content, which some servers send as a list of parts."""
    if isinstance(content, list):
        return "".join(_string(part.get("text")) for part in content if isinstance(part, dict))
    return _string(content)
