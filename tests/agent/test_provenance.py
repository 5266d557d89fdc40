"""Where a thing came from, offered to it as parameters that it may store."""

from datetime import UTC, datetime

import pytest

from agent.context.situation import CLIENT_TIME
from agent.event import ASR_TRANSCRIPT, SELF_CREATED, SYSTEM, USER_TEXT, Event
from agent.tools.memory import provenance


@pytest.mark.parametrize(
    ("event", "trust"),
    [
        (Event(USER_TEXT, "x", source="cli"), "told"),
        (Event(ASR_TRANSCRIPT, "x", source="mic"), "told"),
        (Event(ASR_TRANSCRIPT, "x", source="mic", metadata={"evidence": {"confidence": "high"}}), "told"),
        (Event(ASR_TRANSCRIPT, "x", source="mic", metadata={"evidence": {"confidence": "low"}}), "unsure"),
        (Event(SELF_CREATED, "x", source="self"), "own"),
        (Event(SYSTEM, "x", source="http"), "outside"),
    ],
)
def test_a_statement_that_names_them_is_given_owner_source_and_trust(event: Event, trust: str) -> None:
    named = ["x", "owner", "source", "trust"]
    assert provenance(event, named) == {"owner": "household", "source": event.source, "trust": trust}


def test_what_is_not_named_is_not_given() -> None:
    event = Event(USER_TEXT, "x", owner_key="ada", source="cli")
    assert provenance(event, ["x", "owner"]) == {"owner": "ada"}
    assert provenance(event, []) == {}


@pytest.mark.shows("C7")
def test_the_event_its_time_and_who_spoke_are_offered_too() -> None:
    began = datetime(2026, 3, 1, 7, 30, 5, 123456, tzinfo=UTC)
    event = Event(USER_TEXT, "x", id="e1", created_at=began, metadata={"speaker": "Anna"})
    named = ["event", "said_at", "speaker"]
    assert provenance(event, named) == {"event": "e1", "said_at": "2026-03-01T07:30:05+00:00", "speaker": "Anna"}
    by_their_clock = Event(USER_TEXT, "x", created_at=began, metadata={CLIENT_TIME: "2026-03-01T09:29:00+02:00"})
    assert provenance(by_their_clock, named[1:]) == {"said_at": "2026-03-01T07:29:00+00:00", "speaker": ""}
