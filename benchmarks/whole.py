"""Tries all of what the suite takes a sample of: `scripts/bench whole`, with pytest's options behind it."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.processes import ROOT


def sampling() -> list[Path]:
    """Return the test files that ask whether they are to try the whole."""
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    return [file for file in files if "every_step: bool" in file.read_text(encoding="utf-8")]


def command(options: Sequence[str]) -> list[str]:
    """Return what runs them."""
    return [sys.executable, "-m", "pytest", "--every-step", *map(str, sampling()), *options]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run them, and end as they do."""
    sys.exit(subprocess.run(command(arguments or ()), cwd=ROOT, check=False).returncode)
