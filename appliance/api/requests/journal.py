"""What may be asked of the journal: what was said, by words or the newest, and one step whole."""

from typing import Annotated, Final

from pydantic import Field, JsonValue
from typing_extensions import TypedDict

from agent.replies import INTERRUPTED, SENTENCE_STARTED
from appliance.api.caller import Caller
from appliance.api.register import Answer, AnyEntry, Asked, Entry, Name, Tell
from appliance.errors import Exit, Problem
from appliance.output.text import WRITTEN
from memory.json_value import Json
from memory.state.journal import WORDS, Journal, Selection, Stored

TAKEN_UP: Final = "runs.new"
"""Topic of an event that was taken in hand: its words, and where they came from."""

TOLD: Final = (TAKEN_UP, SENTENCE_STARTED, WRITTEN, INTERRUPTED)
"""Topics of what was said on both sides, for whoever wants the newest without a word to search for."""


class Search(Asked, do="journal"):
    """What was said here, by either side: with these words, the best first, or else the newest, the newest first."""

    words: Annotated[str, Field(max_length=1000)] = ""
    limit: Annotated[int, Field(ge=1, le=200)] = 50
    session: Name | None = None
    """Only of this context."""


class ReadEntry(Asked, do="journal.entry"):
    """One step of the journal, whole."""

    id: Name


class JournalEntry(TypedDict):
    """A step, as it is listed."""

    id: str
    seq: int
    at: str
    topic: str
    who: str
    words: str
    event_id: str
    run_id: str
    session: str


class Found(TypedDict):
    """Steps of the journal."""

    entries: list[JournalEntry]


class WholeEntry(JournalEntry):
    """A step with all that was written of it."""

    body: dict[str, JsonValue]


def entries(journal: Journal) -> list[AnyEntry]:
    """Return what may be asked of the journal; each owner finds what is theirs."""

    async def search(request: Search, caller: Caller, tell: Tell) -> Answer:
        session = caller.session(request.session) if request.session else ""
        if request.words.strip():
            found = await journal.search(request.words, caller.owner_key, request.limit)
            found = [each for each in found if session in ("", each.session_id)]
        else:
            which: Selection = {"session_id": session} if session else {}
            which |= {"topic": TOLD, "owner_key": caller.owner_key, "limit": request.limit, "newest": True}
            found = (await journal.entries(**which))[::-1]
        return {"entries": [listed(each) for each in found]}

    async def read(request: ReadEntry, caller: Caller, tell: Tell) -> Answer:
        found = await journal.entry(request.id)
        if found is None or found.owner_key != caller.owner_key:
            raise Problem(f"the journal has no step {request.id}", Exit.NO_INPUT)
        return {**listed(found), "body": dict(found.body)}

    return [
        Entry(Search, Found, search, "GET /journal", is_for_all=True),
        Entry(ReadEntry, WholeEntry, read, "GET /journal/{id}", is_for_all=True),
    ]


def listed(entry: Stored) -> dict[str, Json]:
    """Return a step as it is listed; `who` is the agent, else the person, else where the words came from."""
    source = str(entry.body.get("source") or "")
    return {
        "id": entry.id,
        "seq": entry.seq,
        "at": entry.at.isoformat(),
        "topic": entry.topic,
        "who": str(entry.body.get("who") or (source if entry.topic == TAKEN_UP else "agent")),
        "words": str(entry.body.get(WORDS) or ""),
        "event_id": entry.event_id,
        "run_id": entry.run_id,
        "session": entry.session_id,
    }
