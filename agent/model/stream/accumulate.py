"""Deltas as they come over the wire become our stream of items and, at the end, one whole message."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from agent.event import new_id
from agent.model.dialects.dialect import Dialect
from agent.model.dialects.names import known_name
from agent.model.dialects.parts import CallArguments, CallBegun, Part, Thought, Words, WordsWereThought
from agent.model.dialects.reader import TextReader
from agent.model.dialects.said import ends_sentence
from agent.model.faults import complains
from agent.model.interface import Answer, StreamItem, TextDelta
from agent.model.messages import Message, ToolCall, ToolSpec, Usage, read_usage
from agent.model.stream.arguments import packed_calls, unwrapped
from agent.model.stream.content import CUTS, GROWING, arguments_in, joined, reason_in, text_in, thoughts_in, words_in
from agent.model.stream.open_call import Fresh, Growing, OpenCall
from agent.model.wire.openai import CALL_FIELDS, sendable, whole_characters
from agent.model.wire.profile import INLINE
from memory.json_value import Json, fields, objects

_TEXT_FIELDS = ("reasoning_content", "reasoning")
"""Reasoning as DeepSeek, vLLM and llama.cpp name it, and as OpenRouter and Ollama do; comes as text."""

_LIST_FIELDS = ("reasoning_details", "thinking_blocks")
"""OpenRouter's signed reasoning and Anthropic's; come in pieces of a list, to be sent back in the same order."""

_OWN_CALL_FIELDS = ("extra_content", "provider_specific_fields")
"""Where Gemini's thought signatures come, in its own OpenAI dialect and through litellm."""

_SIGNED_ID = "__thought__"
"""Where litellm repeats Gemini's signature, thousands of characters of it, in the id of a call."""


CUT: Final = "…"
"""The sign that an answer in words was cut off."""

LOOK_EVERY: Final = 500
"""Characters after which it is looked whether the text repeats itself."""

MOST_THOUGHT: Final = 500_000
"""Characters of thinking, some 128,000 tokens: as much as any model is let think, and as an answer may have."""

LEFT: Final = 20_000
"""Characters at the end of the thinking in which an answer may have been left; of more the looking takes long."""

MOST_REPEATED: Final = 1000
"""Characters that may be one short thing again and again, a minute of speech: some hundred may have been asked for."""

LONGEST_PERIOD: Final = 200
"""Characters of what is repeated; the verse between two refrains is longer."""


class Accumulator:
    """Takes one answer's chunks in order of arrival. The pieces may be cut anywhere; whole characters come out."""

    def __init__(self, taken_ids: AbstractSet[str], tools: Sequence[ToolSpec], dialect: Dialect) -> None:
        """`tools` are those there are: with them a name that comes in pieces is known from two names.

        The `dialect` says whether the text is to be read for thinking and calls, and learns from it.
        """
        self._taken = set(taken_ids)
        self._names = frozenset(tool.name for tool in tools)
        self._dialect = dialect
        self._reader = dialect.reader(tools)
        self._text = Growing()
        self._raw_text = Growing()
        self._pieces: dict[str, Fresh] = {}
        """Of the text ("") and the fields of thinking."""
        self._doubted: str | None = ""
        """The text while it is blank, or one piece that may be an error of the server's; None once it is an answer."""
        self._look_at: dict[str, int] = {}
        """At how many characters the text (""), a field of thinking or a call's arguments are looked at again."""
        self._listed = 0
        """Characters of thinking in pieces of a list."""
        self._calls: list[OpenCall] = []
        self._open: dict[int, OpenCall] = {}
        """The newest call under each index of the wire."""
        self._written: OpenCall | None = None
        """The newest call in the text."""
        self._wire_index = 0
        """The index that the last piece had; a piece without one goes on there."""
        self._text_fields: dict[str, Growing] = {}
        self._list_fields: dict[str, list[Json]] = {}
        self._signatures: list[Json] = []
        self._usage = Usage()
        self._choice: Json = None
        """The index of the choice that came first: where a server gives several, it alone is the answer."""
        self.finish_reason = ""
        """As `reason_in` returns it; empty until the wire said it."""

    def feed(self, chunk: Mapping[str, Json]) -> Iterator[StreamItem]:
        """Yield what one chunk adds; a chunk may add nothing. Fields of an unexpected type are ignored."""
        if isinstance(usage := chunk.get("usage"), dict):
            self._usage = read_usage(usage)
        choices = objects(chunk.get("choices"))
        if self._choice is None and choices:
            self._choice = choices[0].get("index")
        choice = next((each for each in choices if each.get("index") in (None, self._choice)), None)
        if choice is None:
            return
        was_over = bool(self.finish_reason)
        self.finish_reason = reason_in(choice.get("finish_reason")) or self.finish_reason
        delta = choice.get("delta") or {"content": choice.get("text")}  # the latter of text completions
        if isinstance(delta, dict) and not (was_over and self._repeats(delta)):
            yield from self._feed_delta(delta)
        if isinstance(message := choice.get("message"), dict):
            yield from self._feed_whole(message)

    @property
    def has_thought(self) -> bool:
        """Whether any of the model's thinking has come."""
        return bool(self._text_fields or self._list_fields)

    @property
    def is_over(self) -> bool:
        """Whether the text went on behind its end, with what is no more part of the answer."""
        return self._reader is not None and self._reader.is_over

    @property
    def complaint(self) -> str:
        """The whole text where it is nothing but an error that the server sent as an answer, "" else."""
        return self._doubted if self._doubted and self._doubted.strip() and not self._calls else ""

    def cut_if_endless(self) -> bool:
        """Whether the answer repeats itself without an end, or thinking has none: it is cut off here."""
        grown = {"": self._raw_text, **self._text_fields, **{call.id: call.arguments for call in self._calls}}
        if self._thought > MOST_THOUGHT or any(self._is_endless(name, text) for name, text in grown.items()):
            self.finish_reason = "length"
            return True
        return False

    def _is_endless(self, name: str, text: Growing) -> bool:
        if text.length < self._look_at.get(name, MOST_REPEATED):
            return False
        self._look_at[name] = text.length + LOOK_EVERY
        return is_endless(text.text)

    @property
    def length(self) -> int:
        """How many characters have come: words and arguments."""
        return self._raw_text.length + sum(call.arguments.length for call in self._calls)

    @property
    def size(self) -> int:
        """How many characters have come, of words, calls and thinking; more where a server only counts its tokens."""
        came = self.length + self._thought + sum(len(call.name) for call in self._calls)
        return came + self._usage.completion_tokens

    @property
    def _thought(self) -> int:
        return self._listed + sum(text.length for text in self._text_fields.values())

    @property
    def is_plausible(self) -> bool:
        """Whether the answer can be taken as whole although nobody said so: its last call is, or its last sentence."""
        is_told = bool(self._calls) or ends_sentence(self._raw_text.text)
        return is_told and self.has_no_open_call

    @property
    def has_no_open_call(self) -> bool:
        """Whether something has come, and each call has whole arguments."""
        return bool(self.length or self._calls) and all(call.is_whole for call in self._calls)

    def finish(self) -> Iterator[StreamItem]:
        """Yield what was held back and the `Answer`."""
        yield from self._read(self._raw_text.add(self._fresh("").finish()))
        yield from self._read(self._raw_text.flush(), is_last=True)
        if self._reader is not None:
            self._learn(self._reader)
            yield from self._take(self._ended(self._reader))
        if self._reason() in CUTS and not self._calls and (said := self._text.text).strip():
            yield TextDelta(self._text.add(CUT if said[-1].isalnum() or said[-1].isspace() else f" {CUT}"))
        for call in tuple(self._calls):
            yield from self._unpacked(call) if call.name not in self._names else call.flush()
        yield Answer(self.message(), self._usage, self._reason())

    def message(self) -> Message:
        """Return the message as far as it came."""
        calls = tuple(ToolCall(call.id, call.name, unwrapped(call.arguments.text)) for call in self._calls)
        extra: dict[str, Json] = {key: grown.text for key, grown in self._text_fields.items()}
        extra.update({key: sendable(joined(pieces)) for key, pieces in self._list_fields.items()})
        if self._signatures:
            extra["provider_specific_fields"] = {"thought_signatures": sendable(list(self._signatures))}
        if own := {call.id: sendable(call.own_fields) for call in self._calls if call.own_fields}:
            extra[CALL_FIELDS] = dict(own)
        return Message("assistant", self._text.text, calls, extra=extra)

    def _reason(self) -> str:
        if self.finish_reason in CUTS:
            return self.finish_reason
        return "tool_calls" if self._calls else "stop"

    def _repeats(self, delta: Mapping[str, Json]) -> bool:
        """Whether a delta after the end only says once more what was said."""
        return bool(self._raw_text.text) and words_in(delta.get("content")) == self._raw_text.text

    def _read(self, raw: str, *, is_last: bool = False) -> Iterator[StreamItem]:
        """Yield what more of the raw text means, once it is known to be no error of the server's.

        Such an error comes in one piece; a model writes its answer about one in many.
        """
        if not (raw or is_last):
            return
        if self._doubted is not None:
            is_first = not self._doubted.strip()
            self._doubted += raw
            may_complain = not self._doubted.strip() or (is_first and complains(self._doubted))
            if may_complain and not is_last:
                return
            raw, self._doubted = self._doubted, None
        if raw:
            yield from self._take(self._reader.feed(raw) if self._reader is not None else iter((Words(raw),)))

    def _take(self, parts: Iterator[Part]) -> Iterator[StreamItem]:
        for part in parts:
            if isinstance(part, Words):
                yield TextDelta(self._text.add(part.text))
            elif isinstance(part, Thought):
                self._text_fields.setdefault(INLINE, Growing()).add(part.text)
            elif isinstance(part, CallBegun):
                self._written = self._new_call("", part.name)
                yield from self._written.add("", "", self._names)
            elif isinstance(part, CallArguments) and self._written is not None:
                yield from self._written.add("", part.text, self._names)
            elif isinstance(part, WordsWereThought):
                self._text_fields.setdefault(INLINE, Growing()).add(self._text.text)
                self._text = Growing()
                self._dialect.begins_thinking = True

    def _ended(self, reader: TextReader) -> Iterator[Part]:
        """Yield what was held back; where nothing but thinking came, the call or the words that a server left in it."""
        is_lost = not (self._calls or self._raw_text.text.strip() or self.finish_reason == "length")
        thought = next((grown.text[-LEFT:] for grown in self._text_fields.values()), "") if is_lost else ""
        parts = [*(reader.feed(f"<think>{thought}") if thought else ())]
        parts += reader.finish(is_cut=self.finish_reason == "length")
        yield from (part for part in parts if not (thought and isinstance(part, Thought)))

    def _learn(self, reader: TextReader) -> None:
        """Remember of a model whose text was held to its end that it does not begin within its thinking."""
        if reader.is_undecided and self._raw_text.text and self._reason() != "length":
            self._dialect.begins_thinking = False

    def _feed_delta(self, delta: Mapping[str, Json]) -> Iterator[StreamItem]:
        for key in _TEXT_FIELDS:
            if isinstance(piece := delta.get(key), str):
                self._text_fields.setdefault(key, Growing()).add(self._fresh(key).add(piece))
                if piece and self._reader is not None:
                    self._reader.trust()
        for key in _LIST_FIELDS:
            if isinstance(pieces := delta.get(key), list):
                self._list_fields.setdefault(key, []).extend(pieces)
                self._listed += sum(len(text_in(piece.get(name))) for piece in objects(pieces) for name in GROWING)
        own = delta.get("provider_specific_fields")
        if isinstance(own, dict) and isinstance(signatures := own.get("thought_signatures"), list):
            self._signatures.extend(signatures)
        if thought := thoughts_in(delta.get("content")):
            self._text_fields.setdefault(INLINE, Growing()).add(thought)
        words = words_in(delta.get("content") or delta.get("refusal"))
        yield from self._read(self._raw_text.add(self._fresh("").add(words)))
        made = delta.get("tool_calls")
        for piece in objects(made if isinstance(made, list) else [made]):
            yield from self._feed_call(piece)
        if older := delta.get("function_call"):
            yield from self._feed_call({"function": older})

    def _feed_whole(self, message: Mapping[str, Json]) -> Iterator[StreamItem]:
        """Take the whole message, which comes in place of a stream or at its end: what of it has not come yet."""
        yield from self._read(self._raw_text.add(self._fresh("").finish()))
        said, words = self._raw_text.text, words_in(message.get("content"))
        fresh = {key: value for key, value in message.items() if key not in self._text_fields | self._list_fields}
        if self._calls:
            fresh = {key: value for key, value in fresh.items() if key not in {"tool_calls", "function_call"}}
        if said:
            fresh["content"] = words[len(said) :] if words.startswith(said) else ""
        yield from self._feed_delta(fresh)

    def _fresh(self, name: str) -> Fresh:
        return self._pieces.setdefault(name, Fresh())

    def _feed_call(self, piece: Mapping[str, Json]) -> Iterator[StreamItem]:
        named = fields(piece.get("function")) or piece  # some servers leave out what stands around the name
        identifier, name = text_in(piece.get("id")), known_name(text_in(named.get("name")), self._names)
        if identifier and not name and (in_id := known_name(identifier, self._names)) in self._names:
            name = in_id  # Kimi's ids are made of it
        arguments = arguments_in(named.get("arguments"))
        index = piece.get("index")
        self._wire_index = index if isinstance(index, int) else self._wire_index
        call = self._open.get(self._wire_index)
        if call is not None and self._is_rest_of_name(call, identifier, name):
            call.name, name = call.name + name, ""
        elif call is None or call.is_over_at(identifier, name, arguments):
            call = self._new_call(identifier, call.name if call and not name else name)
            self._open[self._wire_index] = call
        for key in _OWN_CALL_FIELDS:
            if value := piece.get(key):
                call.own_fields[key] = value
        if not call.is_repeated_by(identifier, arguments):
            yield from call.add(name, arguments, self._names)

    def _is_rest_of_name(self, call: OpenCall, identifier: str, name: str) -> bool:
        """Whether the piece goes on with the call's name: only where the two together begin a tool's name."""
        whole = call.name + name
        is_same = not identifier or identifier == call.wire_id
        return (
            bool(name and call.name and is_same)
            and call.name not in self._names
            and any(known.startswith(whole) for known in self._names)
        )

    def _unpacked(self, call: OpenCall) -> Iterator[StreamItem]:
        """Tell a call of a tool that nobody has: the calls that are packed into it, or itself."""
        if not (packed := packed_calls(call.arguments.text, self._names)):
            yield from call.flush()
            return
        self._calls.remove(call)
        for name, arguments in packed:
            inner = self._new_call("", name)
            yield from inner.add("", arguments, self._names)

    def _new_call(self, wire_id: str, name: str) -> OpenCall:
        own = whole_characters(wire_id.partition(_SIGNED_ID)[0])
        is_usable = own and own not in self._taken
        identifier = own if is_usable else f"call_{new_id()[:24]}"
        self._taken.add(identifier)
        call = OpenCall(len(self._calls), identifier, wire_id, name)
        self._calls.append(call)
        return call


def is_endless(text: str) -> bool:
    """Whether the end of a text is but one short thing, over and over."""
    if len(text) < MOST_REPEATED:
        return False
    tail = text[-MOST_REPEATED:]
    last = tail[-LONGEST_PERIOD:]
    period = MOST_REPEATED - LONGEST_PERIOD - tail.rfind(last, 0, -1)
    return period <= LONGEST_PERIOD and tail[period:] == tail[:-period]
