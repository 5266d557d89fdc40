"""What the doctor looks at of files and code: whether each folder and the sandbox can be used."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from appliance.config.load import Config
from appliance.doctor.examine import Check, Line, Verdict
from appliance.doctor.service import told_by_service
from appliance.wiring.machine import Machine, machine_of
from memory.json_value import Json


def files(config: Config) -> Line:
    """Ask the running service whether it can use each allowed folder; without one, look here."""
    if not config.file_folders:
        return Line("files", Verdict.OK, "no folder is allowed ([files] folders)")
    return judge_files(_told(config.sockets, machine_of(config, lambda _: True)))


def code(config: Config) -> Line:
    """Ask the running service whether code can be run in a sandbox; without one, try it here."""
    if not config.code.enabled:
        return Line("code", Verdict.OK, "no code is run ([code] enabled)")
    return judge_code(_told(config.sockets, machine_of(config, lambda _: True)))


def judge_files(told: Mapping[str, Json]) -> Line:
    """Judge the folders by what is wrong with each."""
    wrong = {folder: str(trouble) for folder, trouble in told.items() if folder != "code" and trouble}
    usable = ", ".join(folder for folder, trouble in told.items() if folder != "code" and not trouble)
    what = f"the agent may use {usable}" if usable else "none can be used"
    fixes = "; ".join(f"{folder}: {trouble}" for folder, trouble in wrong.items())
    return Line("files", Verdict.FAULT if wrong else Verdict.OK, what, fixes)


def judge_code(told: Mapping[str, Json]) -> Line:
    """Judge the sandbox by what was wrong with it."""
    if "code" not in told:
        return Line("code", Verdict.WARNING, "it is being tried", "ask again")
    wrong = str(told["code"])
    return Line("code", Verdict.FAULT, "no sandbox", wrong) if wrong else Line("code", Verdict.OK, "runs in a sandbox")


def _told(sockets: Sequence[Path], machine: Machine) -> Mapping[str, Json]:
    if told := told_by_service(sockets, "confined"):
        return told
    asyncio.run(machine.look())
    return machine.describe()


CHECKS: tuple[Check, ...] = (files, code)
