"""The lock that JACK's library leaves behind when a program is killed, and how it is told from a frozen sound server.

PortAudio looks for a JACK server each time it lists the cards. For that libjack opens a database in shared memory, and
knows only then whether a server runs: the folder is fixed, and no variable of the environment keeps a process from it.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

PROCESSES: Final = Path("/proc")

SERVERS: Final = ("jackd", "jackdbus")
"""Names of JACK's servers; while one runs, the database is in use."""


def what_fixes_silence(process: int | None = None, processes: Path = PROCESSES) -> str:
    """Return what fixes a sound system that does not answer `process`, this one by default."""
    if folder := _held_by_jack(process or os.getpid(), processes):
        return f"a killed program left JACK's lock: `rm -r {folder}`, and start nakari again"
    return "restart the sound server"


def _held_by_jack(process: int, processes: Path) -> str:
    """Return the folder of JACK's database while this process has it open and no server runs; else ""."""
    folder = ""
    with suppress(OSError):  # it has ended, or is another user's
        for line in (processes / str(process) / "maps").read_text(errors="replace").splitlines():
            path = line.partition("/")[1] + line.partition("/")[2].removesuffix(" (deleted)")
            if Path(path).parent.name == f"jack_db-{os.getuid()}":
                folder = str(Path(path).parent)
    return "" if folder and _runs_a_server(processes) else folder


def _runs_a_server(processes: Path) -> bool:
    for name in processes.glob("[0-9]*/comm"):
        with suppress(OSError):
            if name.read_text(errors="replace").strip() in SERVERS:
                return True
    return False
