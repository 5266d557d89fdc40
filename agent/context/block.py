"""The event block: time, place, evidence and words as XML, in the last user message; and the message a task becomes."""

import re
from collections.abc import Mapping
from datetime import MAXYEAR, UTC, datetime, tzinfo
from typing import Final
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape, quoteattr

from msgspec import Struct

from agent.model.messages import Message, Role
from memory.state.tiers import TASK

TIME_FORMAT = "%Y-%m-%d %H:%M:%S UTC"
"""A UTC time a person can read, e.g. 2025-09-17 01:16:03 UTC."""

OUTSIDE = "From_Outside"
"""Tag of what strangers say, as `agent.tools.tool.from_outside` has it; escaped, so that nothing in it can end it."""

_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that XML 1.0 cannot hold at all; each becomes U+FFFD."""


class Attached(Struct, frozen=True):
    """An image or a document as the block tells of it."""

    about: Mapping[str, str]
    """Attributes: source (the file's name), type, size …"""
    text: str = ""
    """What a document says; "" for an image, which is shown behind the block."""


class Block(Struct, frozen=True):
    """The parts of an event as the model sees it."""

    event_id: str
    event_type: str
    source: str
    words: str
    """What a human said or wrote, or else the event's content."""
    is_human: bool
    """Whether the words stand in `<Human_Input>`; what no human said stands in `<Event>`."""
    budget: int
    """Tool calls that are left for this event."""
    time: datetime | None = None
    """Aware; when it happened (for speech: when it began). None leaves the tag out."""
    situation: Mapping[str, str] = {}
    """Further tags in order, e.g. Timezone, Note, Late_Seconds, Unsaid; names are `[A-Za-z_]+`."""
    evidence: Mapping[str, str] = {}
    """Attributes of the transcript: confidence, language, recognizer …"""
    attached: tuple[Attached, ...] = ()
    """What came beside the words, in order."""


def render(block: Block) -> str:
    """Return the block as XML; every text is escaped, so that spoken words can close no tag."""
    attributes = {"id": block.event_id, "type": block.event_type, "source": block.source, "budget": str(block.budget)}
    lines = ["<Context>"]
    if block.time is not None:
        lines.append(f"<Current_Time>{format_time(block.time)}</Current_Time>")
    lines += [f"<{name}>{_text(value)}</{name}>" for name, value in block.situation.items()]
    if block.evidence:
        lines.append(f"<Evidence{_attributes(block.evidence)}/>")
    if block.is_human:
        lines += [f"<Event{_attributes(attributes)}/>", f"<Human_Input>{_text(block.words)}</Human_Input>"]
    else:
        lines.append(f"<Event{_attributes(attributes)}>{_text(block.words)}</Event>")
    lines += [f"<{OUTSIDE}{_attributes(each.about)}>{_text(each.text)}</{OUTSIDE}>" for each in block.attached]
    return "\n".join([*lines, "</Context>"])


def parse(text: str) -> Block | None:
    """Return the block that `render` wrote, loss-free but for characters XML cannot hold; None if it is none."""
    try:
        root = ET.fromstring(text)  # our own text; expat resolves no external entity
    except ET.ParseError:
        return None
    event = root.find("Event")
    if root.tag != "Context" or event is None:
        return None
    human = root.find("Human_Input")
    evidence = root.find("Evidence")
    own = {"Current_Time", "Event", "Human_Input", "Evidence", OUTSIDE}
    return Block(
        event_id=event.get("id", ""),
        event_type=event.get("type", ""),
        source=event.get("source", ""),
        words=(event.text if human is None else human.text) or "",
        is_human=human is not None,
        budget=int(event.get("budget", "0")),
        time=parse_time(root.findtext("Current_Time", "")),
        situation={child.tag: child.text or "" for child in root if child.tag not in own},
        evidence=dict(evidence.attrib) if evidence is not None else {},
        attached=tuple(Attached(dict(each.attrib), each.text or "") for each in root.iterfind(OUTSIDE)),
    )


def hands_over(text: str, event_id: str, note: str) -> bool:
    """Whether a text is the block that handed over this event with this note, "" for none.

    They are compared as they come back: the note may hold what XML cannot, such as the control characters of a tool's
    answer.
    """
    seen = parse(text)
    return seen is not None and seen.event_id == _legible(event_id) and seen.situation.get("Note", "") == _legible(note)


def format_time(moment: datetime) -> str:
    """Return an aware time as `YYYY-MM-DD HH:MM:SS UTC`."""
    return moment.astimezone(UTC).strftime(TIME_FORMAT)


def parse_time(text: str, zone: tzinfo = UTC) -> datetime | None:
    """Return the aware UTC time of a text in our format or in ISO 8601; None when it is neither.

    One without a zone is of this one. Nor is one in the last year there is, which not every zone can show.
    """
    try:
        if text.endswith(" UTC"):
            return datetime.strptime(text, TIME_FORMAT).replace(tzinfo=UTC)
        moment = datetime.fromisoformat(text)
        utc = (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return utc if utc.year < MAXYEAR else None


def _text(words: str) -> str:
    # A bare carriage return would come back as a line feed (XML 1.0, 2.11).
    return escape(_legible(words), {"\r": "&#13;"})


def _attributes(values: Mapping[str, str]) -> str:
    return "".join(f" {name}={quoteattr(_legible(value))}" for name, value in values.items())


def _legible(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)


RESULT: Final = "tools.results"

ROLES: Final[Mapping[str, Role]] = {
    TASK: "user",
    "execute": "user",
    "node.message": "user",
    "thinking": "assistant",
    "node.thinking": "assistant",
    "llm.results": "assistant",
    RESULT: "tool",
}
"""Action -> role: what is to be done and what others say, what the agent thought, what a tool gave."""


def message_of(action: str, content: str) -> Message | None:
    """Return the message that a task becomes, None for an action that is unknown: a context leaves it out."""
    role = ROLES.get(action)
    return None if role is None else Message(role, content)
