"""Which nakari this is: the version that is installed, and the commit it was made from."""

import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from pathlib import Path
from typing import Final

from appliance.program import FOLDER

COMMIT: Final = Path(__file__).with_name("commit.txt")
"""Written where a package is made of a commit; in a clone git is asked."""


@cache
def version() -> str:
    """Return the version installed at the first call; "not installed" in a tree that scripts/setup has not seen."""
    try:
        return installed("nakari")
    except PackageNotFoundError:
        return "not installed"


@cache
def commit(note: Path = COMMIT, folder: Path = FOLDER) -> str:
    """Return the short name of the commit, of which a clone may be ahead; "" where neither a note nor git tells."""
    if note.is_file():
        return note.read_text(encoding="ascii").strip()
    if not (folder / ".git").exists():
        return ""
    try:
        asked = ["git", "-C", str(folder), "rev-parse", "--short", "HEAD"]
        return subprocess.run(asked, capture_output=True, text=True, timeout=5, check=False).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


def named() -> str:
    """Return version and commit for a person: "0.1.0, commit 31beeab"."""
    return ", commit ".join(filter(None, (version(), commit())))
