"""An event as one line of JSON: loss-free, whatever characters it holds, and its moments sort as texts."""

import json
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from agent.event import MOST_PRIORITY, Event, from_json, to_json, utc_text
from appliance.api.requests.box import Enqueue
from memory.json_value import Json

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
OFFSETS = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MOMENTS = st.datetimes(datetime(1970, 1, 2), datetime(9000, 1, 1), timezones=OFFSETS)  # noqa: DTZ001  zones are drawn
EVENTS = st.builds(
    Event,
    type=st.text(min_size=1).filter(str.strip),
    content=st.text(),
    priority=st.integers(-MOST_PRIORITY, MOST_PRIORITY),
    importance=st.floats(0, 1),
    not_before=st.none() | MOMENTS,
    metadata=st.dictionaries(st.text(), JSON),
    created_at=MOMENTS,
)


@pytest.mark.shows("A2")
@given(EVENTS)
def test_every_event_survives_its_json(event: Event) -> None:
    text = to_json(event)
    assert from_json(text) == event
    assert "\n" not in text
    assert text.isascii()  # so any line, column or stream carries it


@given(MOMENTS, MOMENTS)
def test_moments_sort_as_their_texts_do(one: datetime, other: datetime) -> None:
    one, other = one.astimezone(UTC), other.astimezone(UTC)
    assert (utc_text(one) < utc_text(other)) == (one < other)


def test_a_moment_is_written_in_utc_with_microseconds() -> None:
    assert utc_text(NOON.astimezone(timezone(timedelta(hours=-5)))) == "2026-11-21T12:00:00.000000+00:00"
    with pytest.raises(ValueError, match="2026-11-21T12:00:00 has no zone"):
        utc_text(NOON.replace(tzinfo=None))


def test_a_field_that_a_later_version_writes_is_left_out() -> None:
    event = Event("timer", created_at=NOON)
    assert from_json(json.dumps(json.loads(to_json(event)) | {"mood": "good"})) == event


def test_what_a_door_takes_comes_back_however_deep_it_is() -> None:
    def asked(depth: int) -> Json:
        return {"type": "note", "content": "x", "metadata": json.loads('{"a":' * depth + "1" + "}" * depth)}

    def is_taken(depth: int) -> bool:
        with suppress(ValidationError):
            return bool(Enqueue.model_validate(asked(depth)))
        return False

    deepest = next(depth for depth in range(400, 0, -1) if is_taken(depth))
    taken = Enqueue.model_validate(asked(deepest))
    event = Event(taken.type, taken.content, metadata=taken.metadata)
    assert from_json(to_json(event)) == event
