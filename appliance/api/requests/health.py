"""What may be asked of the box's health: whether it lives, what the doctor finds, its configuration anew."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from pydantic import JsonValue
from typing_extensions import TypedDict

from appliance import program
from appliance.admin.reload import Reload
from appliance.api.caller import Caller
from appliance.api.register import Answer, AnyEntry, Asked, Entry, Tell
from appliance.errors import Exit, Problem
from appliance.notify import HeartBeat
from memory.json_value import Json


class Health(Asked, do="health"):
    """Whether all that has to go on goes on."""


class Examine(Asked, do="doctor"):
    """What the doctor finds, a line as soon as it is known."""


class ReloadConfig(Asked, do="config.reload"):
    """Read the configuration again, and take over what can change while it runs."""


class ReloadedConfig(TypedDict):
    """Which keys hold from now on, and which from the next start on."""

    now: list[str]
    later: list[str]


class Alive(TypedDict):
    """What has to go on, and how long ago it last did, in seconds."""

    ok: bool
    beats: dict[str, float]


class Found(TypedDict):
    """The doctor's lines: name, state (ok, warning or fault), what, fix."""

    lines: list[dict[str, JsonValue]]


def entries(beats: Sequence[HeartBeat], config_file: Path | None, reload: Reload) -> list[AnyEntry]:
    """Return what may be asked of the box's health; the doctor reads `config_file`, or the usual one."""
    one = asyncio.Lock()

    async def health(request: Health, caller: Caller, tell: Tell) -> Answer:
        stuck = [beat for beat in beats if beat.age > beat.max_age]
        if stuck:
            raise Problem(f"{stuck[0].name} has been stuck for {stuck[0].age:.0f} s", Exit.UNAVAILABLE)
        return {"ok": True, "beats": {beat.name: round(beat.age, 2) for beat in beats}}

    async def examine(request: Examine, caller: Caller, tell: Tell) -> Answer:
        lines: list[Json] = []
        async with one:  # it tries devices and models, and two of it would be in each other's way
            async for line in _doctor(config_file):
                lines.append(line)
                tell({"line": line})
        return {"lines": lines}

    async def reload_config(request: ReloadConfig, caller: Caller, tell: Tell) -> Answer:
        found = await reload()
        return {"now": [*found.now], "later": [*found.later]}

    return [
        Entry(Health, Alive, health, "GET /health", is_for_all=True),
        Entry(Examine, Found, examine, "GET /doctor", is_streamed=True, only_tells=True),
        Entry(ReloadConfig, ReloadedConfig, reload_config, is_command=True),
    ]


async def _doctor(config_file: Path | None) -> AsyncIterator[Json]:
    """Yield the lines of `nakari doctor`, which loads models and opens devices: in a process of its own."""
    process = await asyncio.create_subprocess_exec(
        *program.command(config_file, "doctor", "--json"),
        cwd=program.FOLDER,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert process.stdout is not None
    try:
        async for line in process.stdout:
            yield json.loads(line)
        await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
