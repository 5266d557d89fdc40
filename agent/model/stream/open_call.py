"""Texts and tool calls while they are being written: which pieces are of one, and what can be told of it already."""

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import Final

import jiter
from msgspec import Struct, field

from agent.model.interface import ArgumentsDelta, StreamItem, ToolCallStarted
from agent.model.stream.arguments import unwrapped
from agent.model.wire.openai import whole_characters
from memory.json_value import Json

_HIGH_SURROGATE_AT_END = re.compile("[\ud800-\udbff]$")

ENOUGH: Final = 8
"""Characters that no text begins with twice by chance; `ha`, `ha` and `1`, `12` are pieces of one."""


class Fresh:
    """Takes the pieces of one text. Whether each holds those before it is known from the second and the third."""

    def __init__(self) -> None:
        self._so_far = ""
        self._doubted: list[str] = []
        """Pieces that may hold those before them."""
        self._holds_all: bool | None = None
        """Whether each piece does; None until that is known."""

    def add(self, piece: str) -> str:
        """Return what a piece adds, and what was held before it."""
        if not piece or self._holds_all is False:
            return piece
        last = self._doubted[-1] if self._doubted else self._so_far
        is_longer = piece.startswith(last) and len(piece) > len(last)
        if self._holds_all or not self._so_far:
            self._so_far = piece if is_longer else last
            return piece[len(last) :] if is_longer else ""
        if self._doubted and is_longer:
            self._holds_all = True
            return self._taken(piece)
        is_again = piece == last and len(piece) >= ENOUGH and not self._doubted
        self._doubted.append(piece)
        if is_longer or is_again:
            return ""
        self._holds_all = False
        return self._released()

    def finish(self) -> str:
        """Return what was held: no more will come."""
        if self._doubted and len(self._so_far) >= ENOUGH:
            return self._taken(self._doubted[-1])
        return self._released()

    def _taken(self, whole: str) -> str:
        fresh, self._so_far, self._doubted = whole[len(self._so_far) :], whole, []
        return fresh

    def _released(self) -> str:
        held, self._doubted = "".join(self._doubted), []
        return held


class Growing:
    """A text that comes in pieces, some of which end in the middle of a surrogate pair."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._held = ""
        self.length = 0
        """Of the text, in characters."""

    @property
    def text(self) -> str:
        """What came so far, in whole characters."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    @property
    def is_json(self) -> bool:
        """Whether it is a whole JSON object, so that anything more must belong to another."""
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
            self.length += len(whole)
        return whole


class OpenCall(Struct):
    """A call under way: held back while its name may still grow, then told piece by piece.

    Arguments that begin as no object does (a code fence, a JSON text) are told when they are whole, unwrapped.
    """

    index: int
    id: str
    """Ours where the wire gave none that can be used."""
    wire_id: str
    name: str
    arguments: Growing = field(default_factory=Growing)
    own_fields: dict[str, Json] = {}
    is_told: bool = False
    is_empty: bool = False
    """Whether an empty object came, which some gateways send before the arguments: told once there are none."""

    @property
    def is_whole(self) -> bool:
        """Whether nothing of its arguments is missing."""
        return self.arguments.is_json or (self.is_empty and not self.arguments.text)

    def is_over_at(self, identifier: str, name: str, arguments: str) -> bool:
        """Whether this piece begins another call, although the wire may give it the same index.

        The surest sign that both have decides: their ids, else their names, else whether there can be more of this one.
        """
        if identifier and self.wire_id:
            if identifier == self.wire_id:  # some servers give two calls of one answer the same
                return name not in {"", self.name} and self.is_whole
            return not self._goes_on(name, arguments)
        if name and self.name:
            # Servers exist that repeat the header of one call in every piece, and others that number two calls alike.
            return name != self.name or self.is_whole
        return arguments.lstrip().startswith("{") and self.arguments.is_json

    def _goes_on(self, name: str, arguments: str) -> bool:
        """Whether a piece under another id goes on with this call: its arguments are open, and it opens no others."""
        is_open = bool(self.arguments.text.strip()) and not self.arguments.is_json
        return is_open and name in ("", self.name) and not arguments.lstrip().startswith("{")

    def is_repeated_by(self, identifier: str, arguments: str) -> bool:
        """Whether the piece says the whole call once more."""
        is_same = not identifier or identifier == self.wire_id
        return is_same and bool(arguments) and arguments == self.arguments.text and self.arguments.is_json

    def add(self, name: str, arguments: str, names: AbstractSet[str]) -> Iterator[StreamItem]:
        """Take a piece, and tell what it adds; `names` are the tools there are, if they are known."""
        self.name = self.name or name
        fresh = self.arguments.add(self._added(arguments))
        if self.is_told:
            yield from self._tell_arguments(fresh)
        elif self._has_whole_name(names):
            yield from self._tell()

    def _added(self, piece: str) -> str:
        """Return what a piece adds: some gateways send with each all there is so far."""
        if piece.strip() == "{}" and not self.arguments.text:
            self.is_empty = True
            return ""
        if piece.startswith("{") and (so_far := self.arguments.text) and piece.startswith(so_far):
            return piece[len(so_far) :]
        return piece

    def flush(self) -> Iterator[StreamItem]:
        """Tell what was held back: the answer is over."""
        rest = self.arguments.flush()
        if self.is_empty and not self.arguments.text:
            rest = self.arguments.add("{}")
        if self.is_told:
            yield from self._tell_arguments(rest)
        else:
            yield from self._tell()
        if self.is_wrapped and (whole := unwrapped(self.arguments.text)):
            yield ArgumentsDelta(self.index, whole)

    @property
    def is_wrapped(self) -> bool:
        """Whether the arguments begin as no object does."""
        return not self.arguments.text.lstrip().startswith("{")

    def _has_whole_name(self, names: AbstractSet[str]) -> bool:
        """Whether the name is a tool's, or no tool is known; another's call may turn out to be several packed ones."""
        return bool(self.name) and (not names or self.name in names)

    def _tell(self) -> Iterator[StreamItem]:
        self.is_told = True
        yield ToolCallStarted(self.index, self.id, self.name)
        yield from self._tell_arguments(self.arguments.text)

    def _tell_arguments(self, words: str) -> Iterator[StreamItem]:
        if words and not self.is_wrapped:
            yield ArgumentsDelta(self.index, words)
