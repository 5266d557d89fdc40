"""What the doctor looks at of Home Assistant: whether it is reached and takes the token, and what is exposed there."""

import asyncio
from collections.abc import Mapping
from typing import Final

from agent.errors import HomeLost, HomeRefused
from agent.home.house import read_house
from agent.tools.mcp.choosing import MOST_TOOLS
from agent.tools.mcp.server import Server
from appliance.config.load import HOME_TOKEN, Config
from appliance.doctor.examine import Check, Line, Verdict, told_by_service
from appliance.doctor.tools.mcp import tried
from appliance.wiring.agent.home import KEY_FIX, server_of
from memory.json_value import Json, fields

EXPOSE: Final = "expose what may be spoken to, there: Settings, Voice assistants, Expose"


def home(config: Config) -> Line:
    """Ask the running service how Home Assistant is; without one, connect to it and let it go again."""
    if not config.home.url:
        return Line("home", Verdict.OK, "no Home Assistant is configured")
    url, token = config.home.url, config.revealed(HOME_TOKEN)
    if not token:
        return Line("home", Verdict.FAULT, f"{HOME_TOKEN} is not set", KEY_FIX)
    told = told_by_service(config.sockets, "home")
    if told:
        return judge_home(told, told_by_service(config.sockets, "mcp").get("home"))
    return judge_home(*asyncio.run(_tried(url, token, server_of(config))))


def judge_home(told: Mapping[str, Json], tools: Json) -> Line:
    """Judge Home Assistant by what it says of itself, and by what its server of tools does."""
    if told.get("state") != "connected":
        verdict = Verdict.WARNING if told.get("state") == "connecting" else Verdict.FAULT
        return Line("home", verdict, f"Home Assistant: {told.get('reason')}", str(told.get("fix") or ""))
    entities, exposed = told.get("entities"), told.get("exposed")
    lent = fields(tools)
    is_lent = lent.get("state") == "connected"
    what = f"Home Assistant has {entities} entities, " + (
        f"{exposed} exposed" if exposed is not None else "and only an administrator's token tells how many are exposed"
    )
    fixes = [EXPOSE] if exposed == 0 else []
    if not is_lent:
        fixes.append(f"its tools are not there for a model: {lent.get('reason') or 'they are being connected'}")
    tools_told = f"; {lent.get('tools')} tools" if is_lent else ""
    return Line("home", Verdict.WARNING if fixes else Verdict.OK, what + tools_told, "; ".join(fixes))


async def _tried(url: str, token: str, server: Server) -> tuple[dict[str, Json], dict[str, Json]]:
    """Return what the service would say of it, and of its server of tools."""
    from agent.home.connection import connected

    told: dict[str, Json] = {}
    try:
        async with connected(url, token) as connection, asyncio.TaskGroup() as group:
            reading = group.create_task(connection.read())
            house = await read_house(connection.ask)
            told = {"state": "connected", "entities": len(house.entities)}
            told |= {} if house.exposed is None else {"exposed": len(house.exposed)}
            reading.cancel()
    except* HomeRefused as refused:
        told = {"state": "connecting", "reason": f"it is starting ({refused.exceptions[0]})"}
    except* HomeLost as lost:
        first = lost.exceptions[0]
        told = {"state": "lost", "reason": str(first), "fix": first.fix if isinstance(first, HomeLost) else ""}
    return told, await tried(server, MOST_TOOLS) if told.get("state") == "connected" else {}


CHECKS: tuple[Check, ...] = (home,)
