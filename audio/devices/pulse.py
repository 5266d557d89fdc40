"""Asks PulseAudio or PipeWire, through `pactl`, whether this process records the loudspeaker it plays on."""

import asyncio
import json
import os
from contextlib import suppress
from typing import Final, TypeAlias

ANSWER_SECONDS: Final = 2.0
"""A frozen server answers nothing."""

Listed: TypeAlias = list[dict[str, object]]


async def records_itself() -> bool | None:
    """Whether this process records from the monitor of the loudspeaker that it plays on; None where nobody knows.

    A monitor of another loudspeaker is somebody's wish: so are virtual microphones made.
    """
    process = str(os.getpid())
    recorded, sources = await _told("source-outputs"), await _told("sources")
    played, sinks = await _told("sink-inputs"), await _told("sinks")
    from_sources = [each.get("source") for each in recorded if _process(each) == process]
    to_sinks = [each.get("sink") for each in played if _process(each) == process]
    monitored = [str(each.get("monitor_source") or "") for each in sources if each.get("index") in from_sources]
    names = [str(each.get("name")) for each in sinks if each.get("index") in to_sinks]
    if not monitored:
        return None
    return any(sink in names for sink in monitored)


async def _told(what: str) -> Listed:
    """Return what `pactl list` tells; nothing where it cannot be asked."""
    try:
        asked = await asyncio.create_subprocess_exec(
            *("pactl", "--format=json", "list", what),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError:
        return []
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            told, _ = await asked.communicate()
        listed = json.loads(told)
    except (TimeoutError, ValueError):
        return []
    finally:
        with suppress(ProcessLookupError):
            asked.kill()
        await asked.wait()
    return listed if isinstance(listed, list) else []


def _process(stream: dict[str, object]) -> str:
    properties = stream.get("properties")
    return str(properties.get("application.process.id", "")) if isinstance(properties, dict) else ""
