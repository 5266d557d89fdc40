"""The arguments of a call, out of the notations in which models write them, as JSON that grows."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from agent.model.dialects.marks import CLOSERS, beginnings, begun
from agent.model.dialects.mending import JsonMender
from memory.json_value import Json

NAME_KEYS: Final = ("name", "function", "tool_name", "tool", "function_name", "action")
ARGUMENT_KEYS: Final = ("arguments", "parameters", "args", "input", "kwargs", "action_input")
OTHER_KEYS: Final = ("type", "id", "tool_call_id", "call_id", "tool_call", "tool_calls")
"""Keys of the object that holds a whole call, in the notations known."""

MOST_OF_A_TAG: Final = 300
"""Characters of a parameter's tags before its value; a name has 64 at most."""

_TOKEN_QUOTE: Final = re.compile(r'<\|"\|>|<escape>')
_TOKEN_BEGUN: Final = beginnings(('<|"|>', "<escape>"))

_PARAMETER: Final = re.compile(
    r"<(?:｜DSML｜)?parameter(?:=|\s+name=)[\"']?([^\"'>\s]{1,100})[\"']?([^>]{0,150})>"
    r"|<arg_key>\s*([^<]{0,200}?)\s*</arg_key>\s*<arg_value>"
)
_PARAMETER_ENDS: Final = ("</parameter>", "</｜DSML｜parameter>", "</arg_value>")
_PARAMETER_STARTS: Final = ("<parameter", "<｜DSML｜parameter", "<arg_key>")
_VALUE_ENDS: Final = (*_PARAMETER_ENDS, *_PARAMETER_STARTS, *(mark for mark in CLOSERS if mark.startswith("</")))
_BEGUN: Final = beginnings((*_VALUE_ENDS, *(f"\n{mark}" for mark in _VALUE_ENDS)))
_STARTING: Final = beginnings((*_PARAMETER_STARTS, *_VALUE_ENDS))


class Body(Protocol):
    """Takes the text behind a call's name in pieces."""

    rest: str
    """What came behind the end, or where it broke."""

    @property
    def is_done(self) -> bool:
        """Whether the arguments are at their end."""

    @property
    def is_broken(self) -> bool:
        """Whether they are no JSON and cannot be mended; what follows is given as it stands."""

    def feed(self, text: str) -> str:
        """Return what a piece adds to the arguments' JSON."""

    def finish(self, *, is_cut: bool) -> str:
        """Return what was held back; the answer is over, or `is_cut`."""


class _MendedBody:
    """What is one object, of JSON or nearly."""

    def __init__(self) -> None:
        self._mender = JsonMender()
        self.rest = ""

    @property
    def is_done(self) -> bool:
        """Whether the object is closed."""
        return self._mender.is_done

    @property
    def is_broken(self) -> bool:
        """See `Body`."""
        return self._mender.is_broken


class JsonBody(_MendedBody):
    """Arguments as a JSON object, or in brackets as Python's keyword arguments."""

    def feed(self, text: str) -> str:
        """See `Body`."""
        made, self.rest = self._mender.feed(text)
        return made

    def finish(self, *, is_cut: bool) -> str:
        """See `Body`."""
        return self._mender.finish(is_cut=is_cut)


class TokenQuotedBody(JsonBody):
    """Arguments whose texts stand between tokens in place of quotes, as Gemma's: nothing in them is escaped."""

    def __init__(self) -> None:
        super().__init__()
        self._held = ""
        self._is_text = False

    def feed(self, text: str) -> str:
        """See `Body`."""
        text = self._held + text
        whole = len(text) - begun(text, _TOKEN_BEGUN)
        made, self.rest, self._held = "", text[:whole], text[whole:]
        while self.rest:
            piece, *behind = _TOKEN_QUOTE.split(self.rest, 1)
            token = self.rest[len(piece) : len(self.rest) - sum(map(len, behind))]
            more, rest = self._mender.feed(json.dumps(piece, ensure_ascii=False)[1:-1] if self._is_text else piece)
            made += more
            if self.is_done or self.is_broken:
                self.rest, self._held = "".join((rest, token, *behind, self._held)), ""
                break
            made += self._mender.feed('"')[0] if token else ""
            self._is_text ^= bool(token)
            self.rest = "".join(behind)
        return made


class EnvelopeBody(_MendedBody):
    """An object that holds the name and the arguments of one call, in any order; also within another, as OpenAI's."""

    def __init__(self) -> None:
        super().__init__()
        self._fields = _Fields()
        self._told = 0

    @property
    def name(self) -> str | None:
        """The name of the function, None until it is whole."""
        return self._fields.text_of(NAME_KEYS)

    @property
    def keys(self) -> list[str]:
        """The keys that came, each whole."""
        return self._fields.keys

    @property
    def others(self) -> dict[str, Json]:
        """What a whole object holds beside the name: the arguments, where nothing stands around them."""
        return {key: json.loads(raw) for key, raw in self._fields.whole if key not in (*NAME_KEYS, *OTHER_KEYS)}

    @property
    def has_arguments(self) -> bool:
        """Whether the arguments have begun."""
        return bool(self._fields.raw_of(ARGUMENT_KEYS))

    def read(self, text: str) -> None:
        """Take a piece, and keep what it adds to the arguments for the next `feed`."""
        made, self.rest = self._mender.feed(text)
        self._fields.feed(made)

    def feed(self, text: str) -> str:
        """See `Body`."""
        if text:
            self.read(text)
        return self._fresh()

    def finish(self, *, is_cut: bool) -> str:
        """See `Body`."""
        self._fields.feed(self._mender.finish(is_cut=is_cut))
        return self._fresh()

    def _fresh(self) -> str:
        raw = self._fields.raw_of(ARGUMENT_KEYS)
        fresh, self._told = "".join(raw[self._told :]), len(raw)
        return "{}" if self.is_done and not raw else fresh


class _Fields:
    """The values under the keys of one JSON object, as raw JSON while they arrive; strict JSON is expected."""

    def __init__(self) -> None:
        self.keys: list[str] = []
        self._raw: list[list[str]] = []
        self._inner: dict[int, _Fields] = {}
        self._key = ""
        self._depth = 0
        self._is_text = self._is_escaped = self._is_value = False

    def feed(self, text: str) -> None:
        for char in text:
            self._take(char)

    @property
    def whole(self) -> list[tuple[str, str]]:
        """The keys and the raw values."""
        return [(key, "".join(raw).strip()) for key, raw in zip(self.keys, self._raw, strict=False)]

    def raw_of(self, names: tuple[str, ...]) -> Sequence[str]:
        """Return the characters of the value under the first of the names there is, without blanks around it."""
        for key, raw in zip(self.keys, self._raw, strict=False):
            if key in names and raw:
                return raw
        return next(filter(None, (inner.raw_of(names) for inner in self._inner.values())), [])

    def text_of(self, names: tuple[str, ...]) -> str | None:
        """Return the first whole text under one of the names."""
        for key, pieces in zip(self.keys, self._raw, strict=False):
            raw = "".join(pieces).strip()
            if key in names and len(raw) > 1 and raw[0] == raw[-1] == '"' and not raw.endswith('\\"'):
                return str(json.loads(raw))
        return next((found for inner in self._inner.values() if (found := inner.text_of(names)) is not None), None)

    def _take(self, char: str) -> None:
        if self._is_value and self._depth == 1 and not self._is_text and char in ",}":
            self._is_value = False
        if self._is_value:
            self._into_value(char)
        self._follow(char)

    def _into_value(self, char: str) -> None:
        place = len(self.keys) - 1
        if len(self._raw) <= place:
            self._raw.append([])
        if self.keys[place] in NAME_KEYS and (place in self._inner or not self._raw[place]):
            if char == "{" and place not in self._inner:
                self._inner[place] = _Fields()
            if place in self._inner:
                self._inner[place]._take(char)
                return
        if self._depth > 1 or self._is_text or char not in " \t\r\n":
            self._raw[place].append(char)

    def _follow(self, char: str) -> None:
        if self._is_text:
            self._in_text(char)
        elif char == '"':
            self._is_text, self._key = True, ""
        elif char in "{[":
            self._depth += 1
        elif char in "}]":
            self._depth -= 1
        elif char == ":" and self._depth == 1 and not self._is_value:
            self.keys.append(self._key)
            self._is_value = True

    def _in_text(self, char: str) -> None:
        if self._is_escaped:
            self._is_escaped = False
        elif char == "\\":
            self._is_escaped = True
        elif char == '"':
            self._is_text = False
            return
        self._key += "" if self._is_value else char


class TaggedBody:
    """Arguments between tags, a tag or two for each; their types are those of the tool's schema."""

    def __init__(self, properties: Mapping[str, Json]) -> None:
        self._properties = properties
        self._held = ""
        self._value: list[str] | None = None
        """The pieces of an open value that must be whole to be read."""
        self._is_text = False
        """Whether the open value is a text, given out as it comes."""
        self._is_first = True
        self._is_fresh = False
        self.is_done = self.is_broken = False
        self.rest = ""

    def feed(self, text: str) -> str:
        """See `Body`."""
        self._held += text
        made = ""
        while not self.is_done and self._held:
            is_open = self._is_text or self._value is not None
            more = self._in_value() if is_open else self._between()
            if more is None:
                break
            made += more
        return made

    def finish(self, *, is_cut: bool) -> str:
        """See `Body`."""
        made = ""
        if self._is_text or self._value is not None:
            made += self._add(self._held.removesuffix("\n")) + self._end_of_value()
            self._held = ""
        return made if is_cut or self.is_done else made + self._end()

    def _between(self) -> str | None:
        bare = self._held.lstrip()
        if found := _PARAMETER.match(bare):
            self._held = bare[found.end() :]
            return self._begin(found[1] or found[3], found[2] or "")
        last = "<arg_value>" if bare.startswith("<arg_key>") else ">"
        is_begun = bare.startswith(_PARAMETER_STARTS) and last not in bare and len(bare) < MOST_OF_A_TAG
        return None if not bare or bare in _STARTING or is_begun else self._end()

    def _begin(self, key: str, attributes: str) -> str:
        made = ("{" if self._is_first else ", ") + json.dumps(key, ensure_ascii=False) + ": "
        self._is_first, self._is_fresh = False, True
        types = _types(self._properties.get(key))
        is_unmarked = 'string="false"' not in attributes  # DeepSeek V3.2 says so itself, where the schema does not
        self._is_text = types == {"string"} or (not types and is_unmarked)
        self._value = None if self._is_text else []
        self._accepts_text = "string" in types and is_unmarked
        return made + ('"' if self._is_text else "")

    def _in_value(self) -> str | None:
        places = [place for mark in _VALUE_ENDS if (place := self._held.find(mark)) >= 0]
        if not places:
            kept = begun(self._held, _BEGUN)
            text, self._held = self._held[: len(self._held) - kept], self._held[len(self._held) - kept :]
            return self._add(text) if text else None
        text, self._held = self._held[: min(places)], self._held[min(places) :]
        made = self._add(text.removesuffix("\n")) + self._end_of_value()
        for mark in _PARAMETER_ENDS:
            self._held = self._held.removeprefix(mark)
        return made

    def _add(self, text: str) -> str:
        if self._is_fresh and text:
            self._is_fresh = False
            text = text.removeprefix("\n")
        if self._value is not None:
            self._value.append(text)
            return ""
        return json.dumps(text, ensure_ascii=False)[1:-1]

    def _end_of_value(self) -> str:
        if self._value is None:
            self._is_text = False
            return '"'
        whole, self._value = "".join(self._value), None
        return _as_json(whole, accepts_text=self._accepts_text)

    def _end(self) -> str:
        self.is_done, self.rest, self._held = True, self._held, ""
        return "{}" if self._is_first else "}"


def _types(schema: Json) -> set[str]:
    """Return the types that a schema allows; none where it does not say."""
    if not isinstance(schema, dict):
        return set()
    found = schema.get("type")
    named = {str(each) for each in found} if isinstance(found, list) else {found} if isinstance(found, str) else set()
    for key in ("anyOf", "oneOf", "allOf"):
        options = schema.get(key)
        for option in options if isinstance(options, list) else ():
            named |= _types(option)
    return named or ({"string"} if "enum" in schema else set())


def json_between_tags(text: str, schema: Json) -> str:
    """Return a text of an XML element as JSON of the type that its schema has."""
    types = _types(schema)
    is_text = types <= {"string"}
    return json.dumps(text, ensure_ascii=False) if is_text else _as_json(text, accepts_text="string" in types)


def _as_json(text: str, *, accepts_text: bool) -> str:
    """Return a value between tags as JSON; a text where it is no JSON, or where a text is wanted."""
    mender = JsonMender()
    made, rest = mender.feed(text.strip())
    made += mender.finish(is_cut=True)
    is_value = not mender.is_broken and not rest.strip() and _is_json(made)
    if is_value and (made == "null" or not accepts_text):
        return made
    return json.dumps(text, ensure_ascii=False)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
