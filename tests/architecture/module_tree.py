"""The annotated tree of docs/architecture.md: each line is its module's own first line. Run it to write it anew."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.source import ROOT

PAGE = ROOT / "docs" / "architecture.md"
PACKAGES = ("audio", "agent", "memory", "appliance")
"""In the order of the pipeline."""

FENCES = re.compile(r"(?<=<!-- tree -->\n```\n).*?(?=```\n<!-- /tree -->)", re.DOTALL)


def lines() -> Iterator[str]:
    """Yield the tree: packages, their modules, and their inner packages as one line each."""
    for package in PACKAGES:
        folder = ROOT / package
        yield f"{package + '/':<24}{first_line(folder / '__init__.py')}"
        for entry in sorted(folder.iterdir()):
            inner = entry / "__init__.py"
            if inner.is_file():
                yield f"  {entry.name + '/':<22}{first_line(inner)}"
            elif entry.suffix == ".py" and not entry.name.startswith("__"):
                yield f"  {entry.stem:<22}{first_line(entry)}"


def first_line(module: Path) -> str:
    """Return the first line of a module's docstring."""
    docstring = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8")))
    assert docstring, f"{module} has no docstring"
    return docstring.splitlines()[0]


def in_page() -> str:
    """Return the tree that the page prints."""
    found = FENCES.search(PAGE.read_text(encoding="utf-8"))
    assert found, "docs/architecture.md has no tree"
    return found[0]


if __name__ == "__main__":
    tree = "".join(f"{line}\n" for line in lines())
    PAGE.write_text(FENCES.sub(lambda _: tree, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
