"""Programs of others that tests speak with and that nakari does not depend on: fetched once by pip, and kept."""

import fcntl
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest


@cache
def fetched(kind: str, *packages: str) -> Path:
    """Return the folder of the commands of these packages, each `name==version`; skips where they cannot be had."""
    folder = Path(os.environ.get("NAKARI_TEST_CACHE", "/var/cache/nakari-test"))
    name = "-".join([kind, *(each.replace("==", "-") for each in packages)])
    made = folder / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (made / "made").exists():
                _make(made, packages)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no {', '.join(packages)} could be fetched: {error}")
    return made / "bin"


def _make(folder: Path, packages: tuple[str, ...]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    for command in (
        [sys.executable, "-m", "venv", folder],
        [folder / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages],
    ):
        subprocess.run([*map(str, command)], check=True, timeout=300, capture_output=True)
    (folder / "made").touch()
