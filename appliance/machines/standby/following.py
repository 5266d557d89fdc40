"""Whether the nakari of this machine only follows: it has no door, so that whoever asks is told from beside it."""

import socket
from pathlib import Path

from appliance.admin.exchange import DATABASE
from appliance.config.network.machines import MachineSettings, name_of
from memory.errors import StateUnreadable
from memory.state.reader import read_only
from memory.state.replica.position import position_in


def whom_it_follows(machines: MachineSettings, state_folder: Path) -> str | None:
    """Return a sentence part that says whom the nakari that runs here follows; None where none does."""
    file = state_folder / DATABASE
    if not machines.url or machines.role == "ears" or not _is_used(file):
        return None
    try:
        with read_only(file) as connection:
            at = position_in(connection)
    except StateUnreadable:
        return None
    own = machines.name or name_of(socket.gethostname())
    if at is None or at.machine in ("", own):
        return f"{own} waits until it may lead the household"
    return f"{own} follows {at.machine}, which leads the household, and takes over when that is gone"


def _is_used(file: Path) -> bool:
    """Whether a process has the lock of a state database; it is not tried, which would keep one out that starts."""
    try:
        node = file.with_name(f"{file.name}.lock").stat().st_ino
        held = Path("/proc/locks").read_text(encoding="ascii")
    except OSError:
        return False
    return any(" FLOCK " in line and f":{node} " in line for line in held.splitlines())
