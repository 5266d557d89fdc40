"""Where a thing came from, offered to her as parameters that she may store."""

import pytest

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
