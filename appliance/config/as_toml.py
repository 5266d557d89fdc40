"""Values of settings as TOML writes them, whole or in short."""

import json
from collections.abc import Mapping
from typing import Final

_KINDS: Final[Mapping[type, str]] = {dict: "table", list: "list"}
"""What TOML calls them."""


def toml_value(value: object) -> str:
    """Return a setting's value as TOML writes it; for texts that is JSON's way too, DEL apart."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{name} = {toml_value(inner)}' for name, inner in value.items())} }}" if value else "{}"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, bool | str) else str(value)


def shown(value: object) -> str:
    """Return a value of any type in few characters, for a sentence."""
    text = (
        toml_value(value)
        if isinstance(value, bool | int | float | str)
        else f"a {_KINDS.get(type(value), type(value).__name__)}"
    )
    return text if len(text) <= 60 else f"{text[:60]}…"
