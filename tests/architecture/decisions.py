"""The list of decisions: each line is its record's own heading. Run it to write docs/decisions/README.md anew."""

import re
from collections.abc import Iterator

from tests.architecture.source import ROOT

FOLDER = ROOT / "docs" / "decisions"
PAGE = FOLDER / "README.md"
HEAD = """# Decisions

Half a page each: context, decision, consequence, measurement. A decision that was overtaken stays, and says by which.

| record | decision |
|---|---|
"""


def rows() -> Iterator[str]:
    """Yield a table row for each record, in the order of their numbers."""
    for record in sorted(FOLDER.glob("[0-9]*.md")):
        heading = record.read_text(encoding="utf-8").partition("\n")[0]
        number = record.name.partition("-")[0]
        found = re.fullmatch(rf"# {number}: ([^a-z].*)", heading)
        assert found, f'{record.name} begins with {heading!r}, not "# {number}: A sentence"'
        yield f"| [{number}]({record.name}) | {found[1]} |\n"


def page() -> str:
    """Return the whole list."""
    return HEAD + "".join(rows())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
