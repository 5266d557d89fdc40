"""What may be asked of the past: turns and their times, why one was slow, what an answer came of, what was recorded."""

from typing import Annotated, Literal

from pydantic import Field

from appliance.api import answer_models as answers
from appliance.api.caller import Caller
from appliance.api.register import Answer, AnyEntry, Asked, Entry, Name, Tell, Words
from appliance.insight.insight import Insight


class ListTurns(Asked, do="turns"):
    """The newest turns of whoever asks, stage by stage, and what is usual: p50 and p95."""

    last: Annotated[int, Field(ge=1, le=1000)] = 100


class ShowTurn(Asked, do="turn"):
    """One turn, and why it took as long as it did."""

    id: Name | None = None
    """Of its event or its run; the last turn's, where none is given."""
    language: Literal["en", "zh"] = "en"
    """Of the sentence."""


class Why(Asked, do="why"):
    """What a sentence came of: event, calls of models, tools' results, what was heard, what was interrupted."""

    what: Words
    """An id of an event, a run, a call or an entry of the journal; or words that were said, heard or written."""


class ListRecordings(Asked, do="recorder.list"):
    """What the flight recorder has kept, without the sound."""


class ShowRecording(Asked, do="recorder.turn"):
    """What one recorded turn was decided by, without its sound."""

    id: Name
    """Its own, the beginning of it, or "last"."""


def entries(insight: Insight) -> list[AnyEntry]:
    """Return what may be asked of the past; each owner's is theirs, and the sound of the room the household's."""

    async def turns(request: ListTurns, caller: Caller, tell: Tell) -> Answer:
        return await insight.turns(caller.owner_key, request.last)

    async def turn(request: ShowTurn, caller: Caller, tell: Tell) -> Answer:
        return await insight.turn(caller.owner_key, request.id or "", request.language)

    async def why(request: Why, caller: Caller, tell: Tell) -> Answer:
        return await insight.why(caller.owner_key, request.what)

    return [
        Entry(ListTurns, answers.Turns, turns, "GET /turns", is_for_all=True),
        Entry(ShowTurn, answers.Turn, turn, "GET /turn", is_for_all=True),
        Entry(Why, answers.Why, why, "GET /why", is_for_all=True),
        Entry(ListRecordings, answers.Recordings, lambda *_: insight.recordings_listed(), "GET /recordings"),
        Entry(ShowRecording, answers.Recording, lambda asked, *_: insight.recording(asked.id), "GET /recordings/{id}"),
    ]
