"""How commands tell what came of something: in lines, or as JSON."""

import json
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from memory.json_value import Json


def tell(found: "Json", *, as_json: bool) -> None:
    """Print what came of it."""
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False))
        return
    for line in lines(found):
        click.echo(line)


def lines(found: "Json", indent: str = "") -> list[str]:
    """Return nested values as lines for people: one for each of a list, one for each of an object's keys."""
    match found:
        case list():
            return [f"{indent}{_in_a_line(item)}" for item in found] or [f"{indent}none"]
        case dict():
            told: list[str] = []
            for key, value in found.items():
                if isinstance(value, dict | list) and value:
                    told += [f"{indent}{key}:", *lines(value, f"{indent}  ")]
                else:
                    told.append(f"{indent}{key}: {_in_a_line(value) if value not in ({}, []) else 'none'}")
            return told
    return [f"{indent}{_in_a_line(found)}"]


def _in_a_line(value: "Json") -> str:
    if isinstance(value, dict):
        return "  ".join(f"{key}: {_in_a_line(item)}" for key, item in value.items())
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
