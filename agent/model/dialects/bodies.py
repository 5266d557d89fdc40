"""The arguments of a call, out of the notations in which models write them, as JSON that grows."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Final, Protocol

from agent.model.dialects.marks import CLOSERS, beginnings, begun
from agent.model.dialects.mending import JsonMender
from memory.json_value import Json, fields

NAME_KEYS: Final = ("name", "function", "tool_name", "tool", "function_name", "recipient_name", "action")
ARGUMENT_KEYS: Final = ("arguments", "parameters", "args", "input", "kwargs", "action_input", "tool_input")
OTHER_KEYS: Final = ("type", "role", "id", "tool_call_id", "call_id", "tool_call", "tool_calls")
"""Keys of the object that holds a whole call, in the notations known."""

MOST_OF_A_TAG: Final = 300
"""Characters of a parameter's tags before its value; a name has 64 at most."""

_DECODER: Final = json.JSONDecoder()
_ENDS_VALUE: Final = frozenset('"}]')
_KEY: Final = re.compile(r'[\s,{]*"((?:[^"\\]|\\.)*)"\s*:\s*', re.DOTALL)

_TOKEN_QUOTES: Final = ('<|"|>', "<escape>", '"""', "'''")
_TOKEN_QUOTE: Final = re.compile("|".join(map(re.escape, _TOKEN_QUOTES)))
_TOKEN_BEGUN: Final = beginnings(_TOKEN_QUOTES)

_PARAMETER: Final = re.compile(
    r"<(?:｜DSML｜)?parameter(?:=|\s+name=)[\"']?([^\"'>\s]{1,100})[\"']?([^>]{0,150})>"
    r"|<arg_key>\s*([^<]{0,200}?)\s*</arg_key>\s*<arg_value>"
)
_PARAMETER_ENDS: Final = ("</parameter>", "</｜DSML｜parameter>", "</arg_value>")
PARAMETER_STARTS: Final = ("<parameter", "<｜DSML｜parameter", "<arg_key>")
_VALUE_ENDS: Final = (*_PARAMETER_ENDS, *PARAMETER_STARTS, *(mark for mark in CLOSERS if mark.startswith("</")))
_BEGUN: Final = beginnings((*_VALUE_ENDS, *(f"\n{mark}" for mark in _VALUE_ENDS)))
_STARTING: Final = beginnings((*PARAMETER_STARTS, *_VALUE_ENDS))


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


class JsonBody:
    """Arguments as a JSON object, or in brackets as Python's keyword arguments."""

    def __init__(self) -> None:
        self._mender = JsonMender()
        self.rest = ""

    @property
    def is_done(self) -> bool:
        """See `Body`."""
        return self._mender.is_done

    @property
    def is_broken(self) -> bool:
        """See `Body`."""
        return self._mender.is_broken

    def feed(self, text: str) -> str:
        """See `Body`."""
        made, self.rest = self._mender.feed(text)
        return made

    def finish(self, *, is_cut: bool) -> str:
        """See `Body`."""
        return self._mender.finish(is_cut=is_cut)


class TokenQuotedBody(JsonBody):
    """Arguments whose texts may stand between tokens in place of quotes, as Gemma's and Python's three quotes.

    Nothing in them is escaped.
    """

    def __init__(self) -> None:
        super().__init__()
        self._held = ""
        self._is_text = False

    def feed(self, text: str) -> str:
        """See `Body`."""
        text = self._held + text
        whole = len(text) - (0 if text.endswith(_TOKEN_QUOTES) else begun(text, _TOKEN_BEGUN))
        made, self.rest, self._held = "", text[:whole], text[whole:]
        while self.rest:
            piece, *behind = _TOKEN_QUOTE.split(self.rest, 1)
            token = self.rest[len(piece) : len(self.rest) - sum(map(len, behind))]
            more, rest = self._mender.feed(json.dumps(piece, ensure_ascii=False)[1:-1] if self._is_text else piece)
            made += more
            if self.is_done or self.is_broken:
                self.rest, self._held = "".join((rest, token, *behind, self._held)), ""
                break
            is_quote = bool(token) and (self._is_text or not self._mender.is_in_text)
            made += self._mender.feed('"' if is_quote else token)[0]
            self._is_text ^= is_quote
            self.rest = "".join(behind)
        return made

    def finish(self, *, is_cut: bool) -> str:
        """See `Body`."""
        return self._mender.feed(self._held)[0] + super().finish(is_cut=is_cut)


class EnvelopeBody(JsonBody):
    """An object that holds the name and the arguments of one call, in any order; also within another, as OpenAI's."""

    def __init__(self) -> None:
        super().__init__()
        self._json = ""
        self._told = 0
        self._is_amid = False
        """Whether the arguments have begun and are open."""

    @property
    def name(self) -> str | None:
        """The name of the function, None until it is whole."""
        raws = _values(self._json, NAME_KEYS)
        return next((str(json.loads(raw)) for raw, is_whole in raws if is_whole and raw.startswith('"')), None)

    @property
    def keys(self) -> list[str]:
        """The keys that came, each whole."""
        return [key for key, _, _ in _members(self._json)]

    @property
    def others(self) -> dict[str, Json]:
        """What a whole object holds beside the name: the arguments, where nothing stands around them."""
        members = fields(json.loads(self._json))
        return {key: value for key, value in members.items() if key not in (*NAME_KEYS, *OTHER_KEYS)}

    @property
    def has_arguments(self) -> bool:
        """Whether the arguments have begun."""
        return any(_values(self._json, ARGUMENT_KEYS))

    def read(self, text: str) -> str:
        """Take a piece, and keep what it adds to the arguments for the next `feed`; return what it adds in all."""
        made, self.rest = self._mender.feed(text)
        self._json += made
        return made

    def feed(self, text: str) -> str:
        """See `Body`."""
        made = self.read(text) if text else ""
        if self._is_amid and _ENDS_VALUE.isdisjoint(made):  # all of it is theirs; looking anew takes as long as it is
            self._told += len(made)
            return made
        return self._fresh()

    def finish(self, *, is_cut: bool) -> str:
        """See `Body`."""
        self._json += self._mender.finish(is_cut=is_cut)
        return self._fresh()

    def _fresh(self) -> str:
        raw, is_whole = next(_values(self._json, ARGUMENT_KEYS), ("", True))
        fresh, self._told, self._is_amid = raw[self._told :], len(raw), not is_whole
        return "{}" if self.is_done and not raw else fresh


def _members(text: str, place: int = 0) -> Iterator[tuple[str, int, int | None]]:
    """Yield the keys of an object in JSON that grows, each with where its value begins and ends: None while open."""
    end: int | None = place
    while end is not None and (key := _KEY.match(text, end)):
        try:
            end = _DECODER.raw_decode(text, key.end())[1]
        except (ValueError, RecursionError):  # the latter for what is nested too deeply
            end = None
        yield str(json.loads(f'"{key[1]}"')), key.end(), end


def _values(text: str, names: tuple[str, ...], place: int = 0) -> Iterator[tuple[str, bool]]:
    """Yield the raw values under these keys and whether they are whole; those within the object of a name last."""
    inner = []
    for key, begin, end in _members(text, place):
        if key in NAME_KEYS and text.startswith("{", begin):
            inner.append(begin)
        elif key in names and begin < len(text):
            yield text[begin:end], end is not None
    for begin in inner:
        yield from _values(text, names, begin)


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
        is_begun = bare.startswith(PARAMETER_STARTS) and last not in bare and len(bare) < MOST_OF_A_TAG
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
    if not (mender.is_broken or rest.strip()) and (made == "null" or not accepts_text):
        with suppress(ValueError):
            json.loads(made)
            return made
    return json.dumps(text, ensure_ascii=False)
