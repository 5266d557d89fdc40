"""Correction of who said something in the graph: where a write put the speaker's name, the new one is put."""

import asyncio
import re
from collections.abc import Iterator
from typing import Final

from memory.history.audit_record import Origin
from memory.history.writer import Writer

_BY: Final = re.compile(r"(?:`([^`]+)`|(\w+))\s*[:=]\s*\$(speaker|event)\b")
"""A property that a statement gives the speaker's name, or the event's id."""

_NODES: Final = "MATCH (n) WHERE n.{event} = $event AND n.{key} = $was SET n.{key} = $name"
_RELATIONSHIPS: Final = "MATCH ()-[r]->() WHERE r.{event} = $event AND r.{key} = $was SET r.{key} = $name"


async def relabelled(writer: Writer, event_id: str, was: str, name: str) -> int:
    """Put a name in the place of another in what was written because of an event; return how many values.

    The audit log tells which properties got the speaker's name (`$speaker`) beside the event's id (`$event`); a write
    that named only one of them cannot be found again. Every change is a write of its own, on behalf of the event, so
    that it is forgotten with it. May be done twice. Raises what `Writer.write` raises.
    """
    count = 0
    for event_key, key in await asyncio.to_thread(lambda: sorted(set(_named(writer, event_id)))):
        names = {"event": f"`{event_key}`", "key": f"`{key}`"}
        for statement in (_NODES, _RELATIONSHIPS):
            params = {"event": event_id, "was": was, "name": name}
            written = await writer.write(statement.format(**names), params, Origin(event_id))
            count += written.stats.get("propertiesSet", 0)
    return count


def _named(writer: Writer, event_id: str) -> Iterator[tuple[str, str]]:
    """Yield the properties of an event's writes: that of its id, and that of the speaker's name. Blocking."""
    for record in writer.audit.records():
        if record.kind == "attempt" and record.facts.get("event_id") == event_id and record.content is not None:
            found = [(quoted or plain, what) for quoted, plain, what in _BY.findall(str(record.content["cypher"]))]
            keys = {what: [key for key, each in found if each == what] for what in ("event", "speaker")}
            yield from ((event_key, key) for event_key in keys["event"] for key in keys["speaker"])
