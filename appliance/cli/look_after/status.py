"""What `nakari status` tells on one screen, in words; `--json` and `--verbose` have every value."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from math import ceil
from textwrap import wrap
from typing import Any, Final, TypeAlias

from appliance.admin.disk import LITTLE_SPACE, NO_SPACE
from appliance.insight.telling import usual_line
from memory.json_value import Json

Values: TypeAlias = Mapping[str, Any]
"""What a part says of itself, as JSON has it."""

COLUMNS: Final = 80
TITLE: Final = 14
"""Columns of the first cell and the gap behind it."""

LEAST: Final = 16
"""Columns of the second cell, however narrow the terminal is."""

MOST_LEAVING: Final = 5
"""Lines for what leaves the house."""


def in_words(
    status: Mapping[str, Json], heard: str = "", zone: tzinfo | None = None, columns: int = COLUMNS
) -> list[Sequence[str]]:
    """Return rows of a title and a text, at most 24 rows of 80 columns; a part that says nothing has none.

    `heard` is the line of what was heard last, "" where that is not known; `zone` the household's, None this shell's.
    In fewer `columns` there are more rows.
    """
    told: list[Sequence[str]] = []
    usual = COLUMNS - TITLE
    width = max(min(columns - TITLE, usual), LEAST)
    for title, text, usually in _facts(status, heard, zone):
        lines, most = wrap(text, width, break_on_hyphens=False), ceil(usually * usual / width)
        if len(lines) > most:
            lines = [*lines[: most - 1], f"{lines[most - 1][: width - 2]} …"]
        told += [(title if at == 0 else "", line) for at, line in enumerate(lines)]
    return told


def _facts(status: Values, heard: str, zone: tzinfo | None) -> Iterator[tuple[str, str, int]]:
    """Yield a title, a text, and how many lines it may take; 24 lines in all."""
    yield "nakari", f"{status.get('version', '')}, running for {duration(status.get('uptime_seconds', 0.0))}", 1
    if "ears" in status:
        yield "microphone", _listening(status, zone), 2
    if satellites := _satellites(status.get("satellites", {})):
        yield "satellites", satellites, 2
    if heard:
        yield "last heard", heard, 2
    if "loudspeaker" in status:
        yield "loudspeaker", _speaking(status), 2
    if "models" in status:
        yield "model", _thinking(status["models"], zone), 3
    yield from _turns(status)
    run = status.get("run")
    yield "at work on", str(run.get("status", "an event")).lower().replace("_", " ") if run else "nothing", 1
    yield from _waiting_words(status, zone)
    yield from _kept(status, zone)
    if "graph" in status:
        yield "memory", _memory(status["graph"]), 2
    yield from _connections(status, zone)
    if isinstance(state := status.get("state"), Mapping):
        yield "disk", _disk(state), 1
    if "egress" in status:
        leaves = status["egress"].get("leaves") or ["nothing leaves this machine"]
        yield "leaves house", "; ".join(leaves), MOST_LEAVING


def _kept(status: Values, zone: tzinfo | None) -> Iterator[tuple[str, str, int]]:
    """Yield what the state database tells, or why it tells nothing."""
    if unread := status.get("unread"):
        yield "state", str(unread), 4
        return
    yield "mailbox", _mailbox(status.get("mailbox", {})), 1
    if "own_work" in status:
        yield "own work", _own_work(status["own_work"]), 2
    yield "timers", _timers(status.get("timers", {}), zone), 1


def _turns(status: Values) -> Iterator[tuple[str, str, int]]:
    if answers := usual_line(status.get("turns", {})):
        yield "answers", answers, 2
    if (recorder := status.get("recorder", {})).get("turns"):
        yield "recorder", f"keeps the sound of {counted(recorder['kept'], 'turn')}, {recorder['bytes'] / 1e6:.1f} MB", 1


def _connections(status: Values, zone: tzinfo | None) -> Iterator[tuple[str, str, int]]:
    for part, title in (("mcp", "tool servers"), ("calendar", "calendars")):
        if each := status.get(part):
            yield title, ", ".join(f"{name} {one.get('state', '')}" for name, one in each.items()), 2
    if machines := status.get("machines"):
        is_ears, term = machines["role"] == "ears", status.get("standby")
        twice = [f"; two machines are called {name}" for name in machines.get("namesakes", ())]
        line = _ears(machines, zone) if is_ears else _mind(machines, term, zone)
        yield "machines", "".join([line, *twice]), 3
    if wyoming := status.get("wyoming"):
        yield "wyoming", _wyoming(wyoming, zone), 2


def _ears(told: Values, zone: tzinfo | None) -> str:
    """Return what these ears are called, whether their mind is there or since when not, and what waits for it."""
    since = f"{_at(told['mind_since'], zone):%Y-%m-%d %H:%M:%S}"
    mind = f"the mind is there ({told['mind_name']})" if told["mind"] == "there" else f"the mind is away since {since}"
    waiting = f", {counted(told['waiting'], 'turn')} for it" if told["waiting"] else ""
    return f"ears {told['machine']}, {mind}{_without_engine(told)}{waiting}"


def _mind(told: Values, term: Values | None, zone: tzinfo | None) -> str:
    """Return since when this machine leads and after whom, and which ears there are."""
    after = f", after {term['before']}" if term and term["before"] else ""
    since = f", since {_at(term['since'], zone):%Y-%m-%d %H:%M}" if term else ""
    ears = [f"; ears {name} {'there' if each['there'] else 'away'}" for name, each in told["ears"].items()]
    return f"{told['machine']} leads{after}{since}{_without_engine(told)}{''.join(ears)}"


def _without_engine(told: Values) -> str:
    return "" if told["engine"] == "connected" else ", the server between them is away"


def _wyoming(told: Values, zone: tzinfo | None) -> str:
    at = told["last"] and f"{_at(told['last'], zone):%Y-%m-%d %H:%M}"
    last = f", the last at {at}" if at else ""
    return told["problem"] or f"at {told['address']}, {told['connections']} connected{last}"


def _satellites(told: Values) -> str:
    """Return how each satellite is; "" where none is paired."""
    if problem := told.get("problem"):
        return str(problem)
    return ", ".join(f"{each['room']} {each['state']}" for each in told.get("paired", []))


def _listening(status: Values, zone: tzinfo | None) -> str:
    ears, reflexes = status["ears"], status.get("reflexes", {})
    device = ears.get("microphone", {})
    if ears.get("source", "none") == "none":
        return f"not listening: {device.get('reason') or 'there is no microphone'}"
    doing = "muted" if reflexes.get("muted") else "listening"
    if until := reflexes.get("muted_until"):
        doing += f" until {_at(until, zone):%H:%M},"
    trouble = f"; {device['reason']}" if device.get("reason") else ""
    others = [f"{name} {how}" for name, how in ears.get("engines", {}).items() if how != "ready"]
    trouble += f"; {'; '.join(others)}" if others else ""
    return f"{doing} on {ears['source']}, with {ears.get('recognizer', '')}{trouble}"


def _timers(timers: Values, zone: tzinfo | None) -> str:
    if not timers.get("waiting"):
        return "none"
    due = _at(timers["next"], zone)
    return f"{timers['waiting']} waiting, the next at {due:%A %H:%M}"


def _speaking(status: Values) -> str:
    device = status["loudspeaker"]
    if device.get("state") == "gone":
        return f"none: {device.get('reason') or 'there is no loudspeaker'}"
    volume = status.get("reflexes", {}).get("volume")
    return f"{device.get('device', '')}{f', volume {volume} %' if volume is not None else ''}"


def _thinking(models: Values, zone: tzinfo | None) -> str:
    told = str(models.get("thinks", ""))
    behind = [name for name in models.get("in_order", []) if name != told]
    told += f", then {', '.join(behind)}" if behind else ""
    today = models.get("today", {})
    cost = f", {today['cost_usd']:.2f} USD" if today.get("cost_usd") else ""
    window = models.get("window") or {}
    reads = f"; reads {window['tokens']:,} tokens ({window['source']})" if window.get("tokens") else ""
    failures = models.get("failed", {}).values()
    failed = "".join(f"; failed at {_at(each['at'], zone):%H:%M}: {each['reason']}" for each in failures)
    return f"{told}{failed}{reads}; {counted(today.get('calls', 0), 'call')} today{cost}"


def _asked(waiting: Sequence[Values], zone: tzinfo | None) -> str:
    until = _at(waiting[0]["until"], zone)
    more = f", and {len(waiting) - 1} more" if len(waiting) > 1 else ""
    return f"waits for a yes to {waiting[0]['tool']} until {until:%H:%M:%S}{more}"


def _waiting_words(status: Values, zone: tzinfo | None) -> Iterator[tuple[str, str, int]]:
    """Yield the question that waits for a yes, and what waits to be said unasked, where there is any."""
    if waiting := status.get("questions", {}).get("waiting"):
        yield "asked", _asked(waiting, zone), 1
    if unasked := _unasked(status.get("announcements", {})):
        yield "unasked", unasked, 1


def _unasked(told: Values) -> str:
    """Return what waits to be said unasked, and what nobody wants to hear; "" for neither."""
    waits, unwanted = told.get("waiting", 0), told.get("unwanted", [])
    parts = [f"{waits} wait for a gap"] if waits else []
    parts += [f"{counted(len(unwanted), 'thing')} nobody wants to hear (`nakari settings`)"] if unwanted else []
    return ", ".join(parts)


def _mailbox(counts: Mapping[str, int]) -> str:
    wanted = ("pending", "waiting"), ("suspended", "put off"), ("in_hand", "in hand"), ("dead", "given up")
    told = [f"{counts[key]} {name}" for key, name in wanted if counts.get(key)]
    return ", ".join([*told, f"{counts.get('completed', 0)} done"]) if told or counts.get("completed") else "empty"


def _own_work(taken: Values) -> str:
    told = f"{taken['model_calls_today']} of {taken['model_calls_per_day']} model calls today"
    cost = f", {taken['usd_today']:.2f} of {taken['usd_per_day']:.2f} USD"
    return f"{told}{cost}{'; the rest tomorrow' if taken['waits_until'] else ''}{_night(taken.get('night'))}"


def _night(taken: Values | None) -> str:
    if taken is None:
        return ""
    told = f"; the last night {taken['tokens']:,} of {taken['most_tokens']:,} tokens"
    return f"{told}, {taken['usd']:.2f} of {taken['most_usd']:.2f} USD"


def _memory(graph: Values) -> str:
    state, reason = graph.get("state", ""), graph.get("reason", "")
    where = {"server": f"the graph at {graph.get('uri', '')}", "off": "switched off", "ready": "the graph is ready"}
    told = where.get(state, f"the graph is {state}")
    return f"{told}{f' ({reason})' if reason else ''}; vectors by {graph.get('embeddings', 'nobody')}"


def _disk(state: Values) -> str:
    bytes_free = state.get("disk_free_bytes", LITTLE_SPACE)
    free = f", {bytes_free / 1e9:.1f} GB free" if "disk_free_bytes" in state else ""
    how = str(state.get("disk", ""))
    if how == "has room" and bytes_free < LITTLE_SPACE:
        how = "has little room" if bytes_free >= NO_SPACE else "has too little room"
    return f"{how}{free}; the journal takes {state.get('bytes', 0) / 1e6:.1f} MB"


def _at(moment: str, zone: tzinfo | None) -> datetime:
    """Return a moment of the status in a zone, None for this shell's."""
    return datetime.fromisoformat(moment).astimezone(zone)


def counted(count: int, noun: str) -> str:
    """Return a number with its noun: 1 call, 2 calls."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def duration(seconds: float) -> str:
    """Return how long something took, in its two largest units."""
    minutes, hours, days = int(seconds) // 60, int(seconds) // 3600, int(seconds) // 86400
    if days:
        return f"{counted(days, 'day')} {hours % 24} h"
    if hours:
        return f"{hours} h {minutes % 60} min"
    return f"{minutes} min" if minutes else f"{int(seconds)} s"
