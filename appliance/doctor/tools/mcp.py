"""What the doctor looks at of the servers of tools: whether each can be reached, and which of its tools may join."""

import asyncio
from collections.abc import Mapping
from typing import Final

from agent.errors import ServerLost
from agent.tools.mcp.choosing import chosen, share_of
from agent.tools.mcp.server import Server
from appliance.config.load import Config
from appliance.doctor.examine import Check, Finding, Line, Verdict, line_of, told_by_service
from appliance.wiring.agent.tool_servers import servers_of, unset_secrets
from memory.json_value import Json

TRY_SECONDS: Final = 15.0
"""For a server to begin and to tell its tools, while no service is running that could say how it is."""


def mcp(config: Config) -> Line:
    """Ask the running service how its servers of tools are; without one, connect to each and let it go again."""
    if not config.mcp:
        return Line("mcp", Verdict.OK, "no servers of tools are configured")
    told = told_by_service(config.sockets, "mcp") or asyncio.run(_tried(servers_of(config)))
    return judge_servers({name: told[name] for name in told if name in config.mcp}, unset_secrets(config))


def judge_servers(told: Mapping[str, Json], unset: Mapping[str, tuple[str, ...]]) -> Line:
    """Judge the servers by what each says of itself, and by the secrets that it was to be given and nobody set."""
    lines = [_judged(name, one if isinstance(one, dict) else {}) for name, one in told.items()]
    lines += [(Verdict.WARNING, "", f"set {', '.join(secrets)} for {name}") for name, secrets in unset.items()]
    return line_of("mcp", lines)


def _judged(name: str, state: Mapping[str, Json]) -> Finding:
    match state.get("state"):
        case "connected":
            number, fix = state.get("tools"), _left_out(name, state)
            verdict = Verdict.WARNING if fix else Verdict.OK
            return verdict, f"{name}: {number} tool{'' if number == 1 else 's'}", fix
        case "connecting":
            return Verdict.WARNING, f"{name}: {state.get('reason')}", ""
        case _:
            fix = f"start {name}, or correct [mcp.{name}]; it is tried again by itself"
            return Verdict.FAULT, f"{name}: {state.get('reason')}", fix


def _left_out(name: str, state: Mapping[str, Json]) -> str:
    """Return what to do about tools of a server that did not join; "" where all did."""
    refused, missing = state.get("refused"), state.get("missing")
    if isinstance(missing, list):
        return f"{name} has no {', '.join(map(str, missing))}: correct [mcp.{name}] tools"
    if "too_many" in state:
        return f"{state['too_many']} tools of {name} found no room: list those you want in [mcp.{name}] tools"
    if isinstance(refused, dict):
        return f"tools of {name} are left out: " + ", ".join(f"{tool} ({why})" for tool, why in refused.items())
    return ""


async def _tried(servers: list[Server]) -> dict[str, Json]:
    most = share_of(len(servers))
    async with asyncio.TaskGroup() as group:
        tasks = {server.name: group.create_task(tried(server, most), name=server.name) for server in servers}
    return {name: task.result() for name, task in tasks.items()}


async def tried(server: Server, most: int) -> dict[str, Json]:
    """Connect to a server and let it go again; return what `McpServers.describe` would of it."""
    from agent.tools.mcp.client import connected

    try:
        async with asyncio.timeout(TRY_SECONDS), connected(server, lambda _: None, TRY_SECONDS) as connection:
            found = chosen(server, await connection.tools(TRY_SECONDS), (), most)
    except ServerLost as lost:
        return {"state": "lost", "reason": str(lost)}
    except TimeoutError:
        return {"state": "lost", "reason": f"it did not begin within {TRY_SECONDS:g} s"}
    return {"state": "connected", "tools": len(found.tools), **found.left_out()}


CHECKS: tuple[Check, ...] = (mcp,)
