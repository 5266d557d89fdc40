"""Lets a process of its own read and write iCalendar: whatever is in it, that ends in time and takes only so much."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from agent.calendars.agenda import Agenda, agenda_of
from agent.child import reading_child
from agent.errors import CalendarLost

SECONDS: Final = 40.0
"""For one answer; the process itself has less of the processor."""

PROGRAM: Final = Path(__file__).with_name("ics.py")


async def read(
    files: Sequence[Mapping[str, str]], begin: datetime, end: datetime, zone: str, seconds: float = SECONDS
) -> Agenda:
    """Return what takes place in a stretch of time (aware). Raises `CalendarLost` where a file is no calendar.

    Each of `files` has its `path`, and its `kind`: `ics`, or `multistatus`, a CalDAV server's answer with several.
    """
    stretch = {"begin": begin.isoformat(), "end": end.isoformat(), "zone": zone}
    told = await _answer({"do": "read", "files": files, **stretch}, seconds)
    if not all(each["is_calendar"] for each in told["files"]):
        raise CalendarLost("what it sends is no calendar")
    if any(each["is_torn"] for each in told["files"]):
        raise CalendarLost("what it sends breaks off in the middle")
    return await asyncio.to_thread(agenda_of, told)


async def write(entry: Mapping[str, object]) -> bytes:
    """Return a calendar of one entry: uid, now, title, begin, end, place, remind_minutes (None: no alarm)."""
    told = await _answer({"do": "write", **entry})
    return str(told["ics"]).encode()


async def _answer(question: Mapping[str, object], seconds: float = SECONDS) -> dict[str, Any]:
    try:
        async with reading_child(PROGRAM) as child, asyncio.timeout(seconds):
            told, _ = await child.communicate(json.dumps(question).encode())
    except TimeoutError as error:
        raise CalendarLost(f"reading it took longer than {seconds:g} s") from error
    if child.returncode:
        raise CalendarLost("reading it took more time or memory than a calendar may")
    answer: dict[str, Any] = await asyncio.to_thread(json.loads, told)
    return answer
