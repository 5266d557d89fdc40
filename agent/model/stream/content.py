"""What a delta holds and adds, in whatever form servers put it: words, thinking, arguments, how an answer ended."""

import json
import re
from collections.abc import Mapping
from typing import Final

from agent.model.dialects.said import NOTHING, heard
from memory.json_value import Json, fields, objects

CUTS: Final = ("length", "content_filter")
"""Reasons for which an answer may end in the middle of a word."""

_REASONS: Final[Mapping[str, re.Pattern[str]]] = {
    "length": re.compile("length|max|window", re.IGNORECASE),
    "content_filter": re.compile("filter|safety|sensitive|prohibited|blocklist|recitation", re.IGNORECASE),
    "error": re.compile("error|abort|cancel|malformed|insufficient|overload", re.IGNORECASE),
}
"""How providers say them (`MAX_TOKENS`, `model_length`), and that the model failed on the way (`network_error`)."""

GROWING: Final = ("thinking", "text", "summary", "data")
"""Fields of a block that come in pieces."""

_THINKS: Final = re.compile("reason|think", re.IGNORECASE)
"""Types of the parts of a content that are thinking."""

ENOUGH: Final = 8
"""Characters that no text begins with twice by chance; `ha`, `ha` and `1`, `12` are pieces of one."""


def reason_in(said: Json) -> str:
    """Return why an answer ended: `CUTS`, "error", or as the wire says it; "" while it does not."""
    if (reason := text_in(said)) in NOTHING:
        return ""
    return next((each for each, form in _REASONS.items() if form.search(reason)), reason)


def words_in(content: Json) -> str:
    """Return the text of a content, which some servers send as a list of parts, or as one part."""
    parts = content if isinstance(content, list) else [content]
    return heard("".join(text_in(part) or text_in(fields(part).get("text")) for part in parts if not _is_thought(part)))


def thoughts_in(content: Json) -> str:
    """Return the thinking of a content, which Mistral sends as parts of its own."""
    thoughts = (part for part in objects(content) if _is_thought(part))
    return "".join(words_in(part.get("thinking")) or text_in(part.get("text")) for part in thoughts)


def _is_thought(part: Json) -> bool:
    return bool(_THINKS.search(text_in(fields(part).get("type"))))


def arguments_in(value: Json) -> str:
    """Return the arguments of a call as text, which some servers send as an object."""
    if value is None or isinstance(value, str):
        return value or ""
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return str(type(value))  # no JSON, which the tool's caller says


def joined(pieces: list[Json]) -> list[Json]:
    """Return the blocks of reasoning put together again out of the pieces of a stream.

    Anthropic's blocks go on until their signature. OpenRouter numbers its own, and refuses one that comes back in
    pieces. What is neither stays as it came.
    """
    blocks: list[Json] = []
    for piece in pieces:
        last = blocks[-1] if blocks else None
        if isinstance(piece, dict) and isinstance(last, dict) and _goes_on(last, piece):
            for key, value in piece.items():
                grows = key in GROWING and isinstance(value, str)
                last[key] = text_in(last.get(key)) + text_in(value) if grows else value or last.get(key)
        else:
            blocks.append(dict(piece) if isinstance(piece, dict) else piece)
    return blocks


def _goes_on(block: Mapping[str, Json], piece: Mapping[str, Json]) -> bool:
    """Whether a piece belongs to the block before it."""
    if block.get("type") != piece.get("type"):
        return False
    if block.get("type") == "thinking":
        return not block.get("signature")
    return piece.get("index") is not None and block.get("index") == piece.get("index")


def text_in(value: Json) -> str:
    """Return a text as it is, and "" for anything else."""
    return value if isinstance(value, str) else ""


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
