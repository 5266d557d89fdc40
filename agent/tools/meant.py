"""The arguments of a call as they are meant, where they are not as the tool takes them but leave no choice."""

from collections.abc import Mapping
from typing import Final

from pydantic import BaseModel

from agent.model.dialects.bodies import ARGUMENT_KEYS, NAME_KEYS, OTHER_KEYS
from memory.json_value import Json, listed, parse_json

TEXT: Final = "text"
OTHER_NAMES_OF_TEXT: Final = frozenset({"message", "content", "reply", "answer", "response"})
"""What models call a tool's text at times."""


def meant(arguments: str, model: type[BaseModel]) -> dict[str, Json] | None:
    """Return the arguments that a tool's model can be given in place of these; None where there is more than one way.

    `null` is no arguments, and null under a name that may be left out leaves it out. A bare text is that of a tool
    which demands nothing else, and a text under another usual name is its text; so is a number, and a list of texts is
    its lines. Capitals in a name make no other. Arguments within a whole call, put where its arguments belong, are
    those of the tool.
    """
    try:
        given = parse_json(arguments)
    except ValueError:
        return None
    demanded = [name for name, field in model.model_fields.items() if field.is_required()]
    if given is None:
        return {}
    if isinstance(given, str):
        is_text = demanded == [TEXT] and given.strip()
        return {TEXT: given} if is_text else None
    if not isinstance(given, dict):
        return None
    spelled = {name.casefold(): name for name in model.model_fields}
    left: dict[str, Json] = {
        name: value
        for written, value in _without_envelope(given, model.model_fields).items()
        for name in [spelled.get(written.casefold(), written)]
        if value is not None or name not in model.model_fields or name in demanded
    }
    return _with_text(left, demanded, model.model_fields)


def _without_envelope(given: dict[str, Json], known: Mapping[str, object]) -> dict[str, Json]:
    """Return the arguments out of the object of a whole call; others as they are."""
    inner = [value for name, value in given.items() if name in ARGUMENT_KEYS and isinstance(value, dict)]
    is_call = set(given) <= {*NAME_KEYS, *ARGUMENT_KEYS, *OTHER_KEYS} and known.keys().isdisjoint(given)
    return inner[0] if is_call and len(inner) == 1 and isinstance(inner[0], dict) else given


def _with_text(given: dict[str, Json], demanded: list[str], known: Mapping[str, object]) -> dict[str, Json]:
    """Return the arguments with the one text that has another name under its own."""
    if TEXT in demanded and isinstance(number := given.get(TEXT), int | float) and not isinstance(number, bool):
        return {**given, TEXT: str(number)}
    if TEXT in demanded and (lines := listed(given.get(TEXT))) and all(isinstance(line, str) for line in lines):
        return {**given, TEXT: "\n".join(map(str, lines))}
    strange = [name for name in given if name not in known]
    if TEXT not in demanded or TEXT in given or len(strange) != 1 or strange[0] not in OTHER_NAMES_OF_TEXT:
        return given
    value = given[strange[0]]
    rest = {name: each for name, each in given.items() if name != strange[0]}
    return {**rest, TEXT: value} if isinstance(value, str) else given
