"""Upgrades a state by a step that says so, and dies by kill -9 just before the nth step on the disk; 0 is never."""

from pathlib import Path

from appliance.admin import upgrade
from tests.appliance.admin.exchange_program import each_in_a_fork


def renamed(state: Path) -> None:
    """Lead from layout 1 to 2: the switches have another name, and the audit log says it."""
    (state / "switches.json").rename(state / "buttons.json")
    with (state / "audit" / "1").open("a") as file:
        file.write(", upgraded")


def upgraded(state: Path) -> None:
    """Bring the state to layout 2."""
    upgrade.bring_to_date(state, steps=(renamed,))


if __name__ == "__main__":
    each_in_a_fork(upgraded)
