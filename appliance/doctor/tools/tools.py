"""What the doctor looks at of what the agent may do: tools, those that ask first, files and code."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from agent.tools.registry.discovery import discover
from appliance.config.load import Config
from appliance.doctor.examine import Check, Line, Verdict, told_by_service
from appliance.wiring.agent.machine import Machine, machine_of
from memory.json_value import Json


def tools(config: Config) -> Line:
    """Ask the running service what became of the tool files; without one, load them here."""
    told = told_by_service(config.sockets, "tools") or discover(None, config.tools_folder, config.secret).describe()
    return judge_tools(told, str(config.tools_folder))


def judge_tools(told: Mapping[str, Json], folder: str) -> Line:
    """Judge the tool files by what was found."""
    own, broken, lacking = told.get("own"), told.get("broken"), told.get("lacking")
    wrong = [f"{file}: {why}" for file, why in broken.items()] if isinstance(broken, dict) else []
    wanted = [
        f"set {', '.join(map(str, secrets))} for {name}, or do without it"
        for name, secrets in (lacking.items() if isinstance(lacking, dict) else ())
        if isinstance(secrets, list)
    ]
    names = [*map(str, own)] if isinstance(own, list) else []
    what = f"your own: {', '.join(names)}" if names else f"none of your own in {folder}"
    if not wrong:
        return Line("tools", Verdict.WARNING if wanted else Verdict.OK, what, "; ".join(wanted))
    fixes = [f"correct what is broken in {folder}, and start nakari again", *wanted]
    return Line("tools", Verdict.FAULT, "; ".join([*wrong, what]), "; ".join(fixes))


def asking(config: Config) -> Line:
    """Look whether the tools that are named to ask first, or never to, are there."""
    named = (*config.tools.confirm, *config.tools.never_confirm)
    if not named:
        return Line("asking", Verdict.OK, "what opens locks and the like asks first")
    return judge_asking(told_by_service(config.sockets, "asking"))


def judge_asking(told: Mapping[str, Json]) -> Line:
    """Judge the names by what the running service says: one that no tool has keeps nothing from being done."""
    unknown = told.get("unknown")
    if not isinstance(unknown, list):
        return Line("asking", Verdict.OK, "whether the tools that are named are there is told while nakari runs")
    if not unknown:
        return Line("asking", Verdict.OK, "every tool that [tools] confirm and never_confirm name is there")
    names = ", ".join(map(str, unknown))
    fix = "correct [tools] confirm and never_confirm, unless it is a server's that is away now"
    return Line("asking", Verdict.WARNING, f"no tool is named {names}, so nothing asks first for it", fix)


def files(config: Config) -> Line:
    """Ask the running service whether it can use each allowed folder; without one, look here."""
    if not config.file_folders:
        return Line("files", Verdict.OK, "no folder is allowed ([files] folders)")
    return judge_files(_told(config.sockets, machine_of(config)))


def code(config: Config) -> Line:
    """Ask the running service whether code can be run in a sandbox; without one, try it here."""
    if not config.code.enabled:
        return Line("code", Verdict.OK, "no code is run ([code] enabled)")
    return judge_code(_told(config.sockets, machine_of(config)))


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


CHECKS: tuple[Check, ...] = (tools, asking, files, code)
