"""The command as a person starts it: a process of its own, in an environment and a home of its own."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def environment(home: Path, **more: str) -> dict[str, str]:
    """Return the variables of a user whose home is empty."""
    return {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8", **more}


def nakari(home: Path, *arguments: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run the command to its end."""
    return subprocess.run(
        [sys.executable, "-m", "appliance", *arguments],
        cwd=home,
        env=environment(home, **more),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


async def started(home: Path, *arguments: str | Path, **more: str) -> asyncio.subprocess.Process:
    """Start the command, its output piped."""
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "appliance", *arguments, cwd=home, env=environment(home, **more), stdout=pipe, stderr=pipe
    )


def state_folder(home: Path) -> Path:
    """Return where such a user's state is."""
    return home / ".local/state/nakari"
