"""What the doctor looks at of tools: own files that are broken or lack a key, and names that no tool has."""

from collections.abc import Mapping

from agent.tools.registry.discovery import discover
from appliance.config.load import Config
from appliance.doctor.examine import Check, Line, Verdict
from appliance.doctor.service import told_by_service
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


CHECKS: tuple[Check, ...] = (tools, asking)
