"""The arguments of a call as models write them, taken out of what they should not have been wrapped in."""

import json
import re
from typing import Final

import jiter

_FENCED: Final = re.compile(r"\s*```[\w-]*\s*(.*?)\s*```\s*", re.DOTALL)
_DECODER: Final = json.JSONDecoder()


def unwrapped(arguments: str) -> str:
    """Return the JSON object inside a code fence, a JSON text, or before something that is none; else the same text.

    Nothing is guessed: what is cut off, or could be two objects, stays as it is, and the tool's caller says so.
    """
    if not arguments.strip() or is_object(arguments):
        return arguments
    if fenced := _FENCED.fullmatch(arguments):
        return _if_object(fenced[1], arguments)
    try:
        found, end = _DECODER.raw_decode(bare := arguments.lstrip())
    except (ValueError, RecursionError):  # the latter for what is nested too deeply
        return arguments
    if isinstance(found, str):
        return _if_object(found, arguments) if not bare[end:].strip() else arguments
    if isinstance(found, dict) and "{" not in bare[end:]:
        return bare[:end]
    return arguments


def is_object(text: str) -> bool:
    """Whether the text is one strict JSON object."""
    try:
        return isinstance(jiter.from_json(text.encode("utf-8", "replace"), allow_inf_nan=False), dict)
    except ValueError:
        return False


def _if_object(inner: str, otherwise: str) -> str:
    return inner if is_object(inner) else otherwise
