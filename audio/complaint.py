"""What a server of speech says when it refuses: the words of its answer, in one short line."""

import json
from typing import Final

MOST_WORDS: Final = 200
"""Characters that are told."""

_FIELDS: Final = ("error", "detail", "message", "msg", "Exception")
"""Which hold a sentence, or what has one of them in turn; the last that says something is nearest to it."""


def complaint_of(body: bytes) -> str:
    """Return what the body of a refusal says: a field of its JSON, else all of it; of a page nothing."""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        text = body.decode(errors="replace").strip()
        return "" if text.startswith("<") else in_a_line(text)
    while isinstance(said, dict | list):
        within = said if isinstance(said, list) else [said[name] for name in reversed(_FIELDS) if said.get(name)]
        if not within:
            return in_a_line(json.dumps(said, ensure_ascii=False)) if said else ""
        said = within[0]
    return in_a_line(str(said or ""))


def in_a_line(text: str) -> str:
    """Return a text in one line of at most `MOST_WORDS` characters."""
    line = " ".join(text.split())
    return line if len(line) <= MOST_WORDS else f"{line[:MOST_WORDS]}…"
