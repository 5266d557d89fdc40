"""What the doctor looks at of the person's own tool files: which are broken, and which lack a key."""

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


CHECKS: tuple[Check, ...] = (tools,)
