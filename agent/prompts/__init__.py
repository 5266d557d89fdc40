"""The system prompt: three modules, composed in fixed order, each replaceable by itself."""

from collections.abc import Mapping
from importlib.resources import files

MODULES = ("persona", "system", "tools")
"""seeds/000: the prompt's modules, in this order."""


def compose(overrides: Mapping[str, str] | None = None) -> str:
    """Return the system prompt: the modules in fixed order, each replaced by its override if there is one."""
    given = overrides or {}
    return "\n\n".join(given.get(name, _shipped(name)).strip() for name in MODULES)


def _shipped(name: str) -> str:
    return files(__package__).joinpath(f"{name}.md").read_text(encoding="utf-8")
