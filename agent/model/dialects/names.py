"""The names of tools as models write them."""

import re
from collections.abc import Collection
from typing import Final

_NAMESPACE: Final = re.compile(r".*(?:[.:/]|__)")
"""What stands before a name: `functions.reply`, `default_api__reply`."""

_BEHIND: Final = re.compile(r"(?:<\||\(|:\d+\Z).*", re.DOTALL)
"""What follows one: the next mark of the format, the brackets of a call, or Kimi's number of it."""

_REPLY: Final = "reply"
_OF_REPLY: Final = re.compile(
    "(?:final|send|give)?(?:say|speak|tell|talk|respond|response|reply|answer)(?:to|with)?(?:the)?"
    "(?:user|human|person|message|text|back)?|回复|回答|说"
)
"""What models call it that have learnt another list of tools: a verb of saying, and to whom, without what joins."""


def known_name(written: str, names: Collection[str]) -> str:
    """Return the tool's name that is meant; the written one as it is where none of the names is, or more than one.

    Only the spelling is looked at: capitals, what joins its words, and what was put before and behind. But no list has
    another tool to answer with than `reply`, unless one has a name that begins so.
    """
    if written in names:
        return written
    bare = _BEHIND.sub("", written)
    forms = {letters for form in (bare, _NAMESPACE.sub("", bare)) if (letters := _letters(form))}
    meant = [name for name in names if _letters(name) in forms]
    if not meant and _REPLY in names and any(map(_OF_REPLY.fullmatch, forms)):
        return written if any(name.startswith(written) for name in names) else _REPLY
    return meant[0] if len(meant) == 1 else written


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))
