"""Names, sizes and patterns that every engine checks alike."""

import re
from typing import Final

from memory.engine.interface import MESSAGE_LIMIT, RECORD_LIMIT
from memory.errors import EngineRefused

_WORD: Final = re.compile(r"[A-Za-z0-9_-]{1,128}")
_DOTTED: Final = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")


def require_word(word: str) -> str:
    """Return an id, or the name of an inbox or a household; raises ValueError where it is none, a bug of the caller."""
    if not _WORD.fullmatch(word):
        raise ValueError(f"{word!r} is no name for an engine: up to 128 of ASCII letters, digits, - and _")
    return word


def require_dotted(name: str) -> str:
    """Return a key, topic or name of a blob; raises ValueError where it is none, a bug of the caller."""
    if not _DOTTED.fullmatch(name):
        raise ValueError(f"{name!r} is no name for an engine: words of ASCII letters, digits, - and _, with . between")
    return name


def require_pattern(pattern: str) -> str:
    """Return a pattern of topics; raises ValueError where it is none, a bug of the caller."""
    if pattern != "*":
        require_dotted(pattern.removesuffix(".*"))
    return pattern


def require_message(data: bytes) -> bytes:
    """Return a message or a key's value; raises `EngineRefused` for one over the limit."""
    if len(data) > MESSAGE_LIMIT:
        raise EngineRefused(f"a message of {len(data)} bytes is over the engine's limit of {MESSAGE_LIMIT}; split it")
    return data


def require_record(record: bytes) -> bytes:
    """Return a record of the log; raises `EngineRefused` for one over the limit."""
    if len(record) > RECORD_LIMIT:
        what = f"a record of {len(record)} bytes is over the engine's limit of {RECORD_LIMIT}"
        raise EngineRefused(f"{what}; write less in one transaction")
    return record
