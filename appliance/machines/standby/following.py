"""Whether the nakari of this machine only follows: it has no door, so that whoever asks is told from beside it."""

from pathlib import Path

from appliance.admin.exchange import DATABASE, is_used
from appliance.config.network.machines import MachineSettings
from memory.errors import StateUnreadable
from memory.state.reader import read_only
from memory.state.replica.position import position_in


def whom_it_follows(machines: MachineSettings, state_folder: Path) -> str | None:
    """Return a sentence part that says whom the nakari that runs here follows; None where none does."""
    if not machines.url or machines.role == "ears" or not is_used(state_folder):
        return None
    try:
        with read_only(state_folder / DATABASE) as connection:
            at = position_in(connection)
    except StateUnreadable:
        return None
    own = machines.own_name
    if at is None or at.machine in ("", own):
        return f"{own} waits until it may lead the household"
    return f"{own} follows {at.machine}, which leads the household, and takes over when that is gone"
