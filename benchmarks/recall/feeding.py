"""A household's turns as the journal gets them from a running nakari, each at its date."""

import hashlib
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agent.context.epochs import MESSAGE
from agent.event import ASR_TRANSCRIPT, SELF_CREATED, Event
from agent.model.messages import Message
from agent.record import entry_of, step
from agent.replies import SENTENCE_STARTED
from appliance.output.voice import SENTENCE_ENDED
from audio.tts.sentences import SentenceSplitter
from benchmarks.recall.corpus import AGENT, Household, Turn
from memory.json_value import Json
from memory.state.journal import Entry, Journal
from memory.state.tiers import TASK

PAGE: Final = 500
"""Entries written in one transaction."""

ATTEMPT: Final = 1


class Place(Struct, frozen=True):
    """Where the journal has a turn."""

    event_id: str
    is_reply: bool


async def feed(household: Household, journal: Journal) -> Mapping[Place, str]:
    """Journal a household's turns in order, under its name as the owner; return the turns' ids by their places.

    A person's turn is an event that was taken up; what the agent said right after it in the session is its reply,
    sentence by sentence as the voice journals it and whole as the context does. What the agent said first belongs to
    an event of its own.
    """
    places: dict[Place, str] = {}
    last: dict[str, Event] = {}
    """The event of each session that no reply was given to yet."""
    entries: list[Entry] = []
    for turn in household.turns:
        if turn.speaker == AGENT:
            event = last.pop(turn.session, None) or _event(household.name, turn)
            entries += map(entry_of, _reply(event, turn))
        else:
            event = last[turn.session] = _event(household.name, turn)
            entries += map(entry_of, _heard(event, turn))
        places[Place(event.id, turn.speaker == AGENT)] = turn.id
        if len(entries) >= PAGE:
            await journal.append(*entries, durable=False)
            entries = []
    await journal.append(*entries)
    return places


def _event(owner: str, turn: Turn) -> Event:
    """Return the event of a turn: a person's, or the agent's own where it spoke first."""
    is_own = turn.speaker == AGENT
    return Event(
        SELF_CREATED if is_own else ASR_TRANSCRIPT,
        "" if is_own else turn.words,
        id=hashlib.sha256(f"{owner}\0{turn.id}".encode()).hexdigest()[:32],
        owner_key=owner,
        session_id=turn.session,
        source="self" if is_own else "mic",
        metadata={} if is_own or not turn.speaker else {"speaker": turn.speaker},
        created_at=turn.at,
    )


def _heard(event: Event, turn: Turn) -> Iterator[Event]:
    body: dict[str, Json] = {"source": event.source, "attempt": ATTEMPT, "content": "", **event.metadata}
    yield _at(step(TASK, event, event.id, body, turn.words), turn.at)
    yield _at(step(MESSAGE, event, event.id, _message(event, Message("user", turn.words))), turn.at)


def _reply(event: Event, turn: Turn) -> Iterator[Event]:
    yield _at(step(MESSAGE, event, event.id, _message(event, Message("assistant", turn.words))), turn.at)
    splitter, at = SentenceSplitter(), turn.at
    for number, sentence in enumerate([*splitter.feed(turn.words), *splitter.finish()]):
        about: dict[str, Json] = {"call_id": event.id, "number": number}
        yield _at(step(SENTENCE_STARTED, event, "", about, sentence), at)
        at += timedelta(seconds=1)
        yield _at(step(SENTENCE_ENDED, event, "", about | {"whole": True, "heard": sentence}), at)


def _message(event: Event, message: Message) -> dict[str, Json]:
    return {"epoch": event.session_id, "message": message.to_json()}


def _at(envelope: Event, at: datetime) -> Event:
    return replace(envelope, created_at=at)
