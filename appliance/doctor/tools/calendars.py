"""What the doctor looks at of the calendars: whether each can be reached, takes the login, and how many it has."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from agent.calendars.owner import About
from agent.errors import CalendarLost
from appliance.config.agent.tools import CalendarSource
from appliance.config.load import Config
from appliance.doctor.examine import Check, Finding, Line, Verdict, line_of, told_by_service
from appliance.egress import is_here
from appliance.wiring.agent.calendars import about_of
from memory.egress import host_of
from memory.json_value import Json

TRY_SECONDS: Final = 15.0
"""For a calendar to tell what it has, while no service is running that could say how it is."""


def calendar(config: Config) -> Line:
    """Ask the running service how its calendars are; without one, look at each."""
    if not config.calendar:
        return Line("calendar", Verdict.OK, "none is configured")
    abouts = [about for name in config.calendar if (about := about_of(config, name)) is not None]
    told = told_by_service(config.sockets, "calendar") or asyncio.run(_tried(abouts))
    unset = config.unset({name: (each.url_env, each.password_env) for name, each in config.calendar.items()})
    return judge_calendars(told, unset, unencrypted(config.calendar))


def judge_calendars(
    told: Mapping[str, Json], unset: Mapping[str, tuple[str, ...]], bare: Mapping[str, str] | None = None
) -> Line:
    """Judge the calendars by what each says of itself, by secrets nobody set, and by passwords sent unencrypted."""
    lines = [_judged(name, one if isinstance(one, dict) else {}) for name, one in told.items() if name not in unset]
    lines += [
        (Verdict.FAULT, f"{name}: no {secrets[0]}", f"set {', '.join(secrets)}") for name, secrets in unset.items()
    ]
    lines += [
        (Verdict.WARNING, "", f"use https for [calendar.{name}]: {host} is sent its password unencrypted")
        for name, host in (bare or {}).items()
    ]
    return line_of("calendar", lines)


def unencrypted(configured: Mapping[str, CalendarSource]) -> dict[str, str]:
    """Return by calendar the host that is sent a password without TLS, this machine apart."""
    bare = {name: told.url for name, told in configured.items() if told.user and told.url.startswith("http://")}
    return {name: host for name, url in bare.items() if not is_here(host := host_of(url))}


def _judged(name: str, state: Mapping[str, Json]) -> Finding:
    names = state.get("calendars")
    several = len(names) if isinstance(names, list) else 0
    what = f"{name}: {several} calendar{'' if several == 1 else 's'}"
    if state.get("state") == "lost":
        reason = state.get("reason")
        return (
            Verdict.FAULT,
            f"{name}: {reason}",
            f"correct [calendar.{name}], or its server; it is tried again by itself",
        )
    if state.get("state") == "connecting":
        return Verdict.WARNING, f"{name}: it is being read", ""
    if unread := state.get("unread"):
        fix = f"{unread} more of {name} were not read, it would take too long; take old repeating ones out of it"
        return Verdict.WARNING, what, fix
    if left_out := state.get("left_out"):
        are = "entry is broken or repeats" if left_out == 1 else "entries are broken or repeat"
        return Verdict.WARNING, what, f"{left_out} {are} without end in {name}, and left out"
    return Verdict.OK, what, ""


async def _tried(abouts: Sequence[About]) -> dict[str, Json]:
    async with asyncio.TaskGroup() as group:
        tried = {about.name: group.create_task(_try(about), name=about.name) for about in abouts}
    return {name: task.result() for name, task in tried.items()}


async def _try(about: About) -> dict[str, Json]:
    try:
        async with asyncio.timeout(TRY_SECONDS):
            found = await about.source.look({})
    except CalendarLost as lost:
        return {"state": "lost", "reason": str(lost)}
    except TimeoutError:
        return {"state": "lost", "reason": f"it does not answer within {TRY_SECONDS:g} s"}
    finally:
        await about.source.aclose()
    return {"state": "connected", "calendars": [each.name for each in found]}


CHECKS: tuple[Check, ...] = (calendar,)
