"""The arguments of a call as they are meant, where they are not as the tool takes them but leave no choice."""

from collections.abc import Collection
from typing import Final

from pydantic import BaseModel

from agent.model.dialects.said import ends_sentence
from memory.json_value import Json, parse_json

TEXT: Final = "text"
OTHER_NAMES_OF_TEXT: Final = frozenset({"message", "content", "reply", "answer", "response"})
"""What models call a tool's text most; under any other name a whole sentence is one, and `warm` is none."""


def meant(arguments: str, model: type[BaseModel]) -> dict[str, Json] | None:
    """Return the arguments that a tool's model can be given in place of these; None where there is more than one way.

    `null` is no arguments, and null under a name that may be left out leaves it out. A bare text is that of a tool
    which demands nothing else, and a sentence under a name that it does not know is its text; so is a number, and a
    list of texts is its lines. Capitals in a name make no other. Arguments within an object, as of a whole call or of
    the schema, are those of the tool.
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


def _without_envelope(given: dict[str, Json], known: Collection[str]) -> dict[str, Json]:
    """Return the arguments out of the one object that stands around them, as of a whole call; others as they are."""
    inner = [value for value in given.values() if isinstance(value, dict)]
    return inner[0] if len(inner) == 1 and not any(name in known for name in given) else given


def _with_text(given: dict[str, Json], demanded: Collection[str], known: Collection[str]) -> dict[str, Json]:
    """Return the arguments with the one text that has another name, or another form, under its own."""
    strange = [name for name in given if name not in known]
    name = TEXT if TEXT in given else strange[0] if len(strange) == 1 else ""
    if TEXT not in demanded or not name or (text := _text_of(given[name])) is None:
        return given
    if name != TEXT and name not in OTHER_NAMES_OF_TEXT and not ends_sentence(text):
        return given
    return {**{other: each for other, each in given.items() if other != name}, TEXT: text}


def _text_of(value: Json) -> str | None:
    """Return a text, a number as one, the lines of a list, or the only value of an object; None for anything else."""
    if isinstance(value, dict) and len(value) == 1:
        return _text_of(*value.values())
    if isinstance(value, list) and value and all(isinstance(line, str) for line in value):
        return "\n".join(map(str, value))
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return str(value) if is_number or isinstance(value, str) else None
