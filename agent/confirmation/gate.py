"""Which calls need a person's yes: what a tool says of its arguments, what the house names, what a stranger led to."""

import asyncio
import json
from collections.abc import Collection, Mapping
from typing import Final

import structlog
from msgspec.structs import replace
from pydantic import ValidationError

from agent.errors import ToolFailed
from agent.event import OUTSIDE, Event, predecessor
from agent.mailbox import Mailbox
from agent.model.messages import ToolCall
from agent.run.run import Run
from agent.tools.tool import AsksFirst, Tool
from memory.json_value import Json
from memory.state.journal import Journal

log = structlog.get_logger()

LONGEST_PHRASE: Final = 160
"""Characters that are said of what is about to be done."""

LONGEST_VALUE: Final = 40
"""Characters of an argument that are said."""

MOST_ANCESTORS: Final = 8
"""Events back to the one that a task began with."""

SECONDS_TO_TELL: Final = 5.0
"""A tool may take to tell what a call is about to do; then it is not carried out."""

CANNOT_TELL: Final = "error: it cannot be told what this would do ({reason}), so nothing was done"


async def about_to(run: Run, tool: Tool, call: ToolCall, journal: Journal, mailbox: Mailbox) -> str:
    """Return what a call is about to do that needs a yes, as words after "to"; "" where it needs none.

    A tool that tells of its calls itself is believed. Of the others those need one whose effect nobody can take back,
    once anything stands behind the call that a stranger said: what is attached to this event, a result in it, in the
    one whose words it goes on with, or in an event that it came of. Raises `ToolFailed` where it cannot be told.
    """
    if tool.is_for is not None and not tool.is_for(run.event.owner_key):  # it refuses them itself
        return ""
    is_grave = tool.effect == "irreversible" and not tool.is_undoable
    if tool.asks_first is None and not (is_grave and await _is_prompted(run, tool, journal, mailbox)):
        return ""
    given = arguments_of(tool, call.arguments)
    if given is None:  # the tool refuses them itself
        return ""
    if tool.asks_first is not None:
        return one_line(await _told(tool.asks_first, given))
    return described(tool.name, given)


async def _is_prompted(run: Run, tool: Tool, journal: Journal, mailbox: Mailbox) -> bool:
    """Whether a stranger's words may have led to this call; not those of the server whose tool it is."""
    event: Event | None = run.event
    found = run.outside | {run.event.outside}
    if run.is_resumed or run.lease.note or _before(run.event):
        for _ in range(MOST_ANCESTORS):
            if event is None:
                break
            steps = await journal.entries(topic="tools.results", event_id=event.id)
            found |= {str(each.body.get(OUTSIDE) or "") for each in steps} | {event.outside}
            filed = await mailbox.find(before) if (before := _before(event)) else None
            event = filed.event if filed is not None else None
    return bool(found - {"", tool.outside})


def amended(tool: Tool, confirm: Collection[str], never: Collection[str]) -> Tool:
    """Return a tool as the house wants it: one that always asks first, or one that never does."""
    if tool.name in never:
        return replace(tool, asks_first=None, is_undoable=True)
    if tool.name not in confirm:
        return tool
    own, name = tool.asks_first, tool.name

    async def always(arguments: Mapping[str, Json]) -> str:
        return (await own(arguments) if own is not None else "") or described(name, arguments)

    return replace(tool, asks_first=always)


def arguments_of(tool: Tool, text: str) -> dict[str, Json] | None:
    """Return the arguments of a call as the tool takes them, defaults included; None where it does not."""
    try:
        given = tool.arguments.model_validate_json(text or "{}").model_dump(mode="json")
    except (ValidationError, ValueError, RecursionError):
        return None
    return given if isinstance(given, dict) else None


def described(name: str, arguments: Mapping[str, Json]) -> str:
    """Return a call in words, where its tool has none for it: `use send_letter (to: Ada, text: Hello)`."""
    told = ", ".join(f"{key}: {_short(value)}" for key, value in arguments.items() if value not in (None, "", [], {}))
    return one_line(f"use {name}" + (f" ({told})" if told else ""))


def one_line(text: str) -> str:
    """Return a text that can stand in a spoken sentence: on one line, of a bounded length, of letters that are seen."""
    line = " ".join("".join(each if each.isprintable() else " " for each in text).split()).strip(" .!?。！？")
    return line if len(line) <= LONGEST_PHRASE else f"{line[:LONGEST_PHRASE].rstrip()}…"


async def _told(asks_first: AsksFirst, given: Mapping[str, Json]) -> str:
    """Return what a tool says of a call; whatever goes wrong there, the call is not carried out."""
    try:
        async with asyncio.timeout(SECONDS_TO_TELL):
            return await asks_first(given)
    except TimeoutError as error:
        raise ToolFailed(CANNOT_TELL.format(reason=f"no answer within {SECONDS_TO_TELL:g} s")) from error
    except Exception as error:
        log.warning("call_not_told", reason=str(error))
        raise ToolFailed(CANNOT_TELL.format(reason=str(error) or type(error).__name__)) from error


def _before(event: Event) -> str:
    """Return the id of the event that this one came of or goes on with, "" for none."""
    return event.parent_id or predecessor(event)


def _short(value: Json) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"
