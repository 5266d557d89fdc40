"""What a delta holds, in whatever form servers put it: words, thinking, arguments, and how an answer ended."""

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
