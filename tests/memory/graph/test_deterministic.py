"""A statement run again a year later does what it did: the clock is a parameter, and chance is named."""

from datetime import UTC, datetime

import pytest

from memory.graph.cypher import Statement
from memory.graph.deterministic import Deterministic, deterministic

NOW = datetime(2026, 11, 21, 8, 30, 5, 250_000, tzinfo=UTC)


@pytest.mark.shows("C11")
@pytest.mark.parametrize(
    ("cypher", "kept", "value"),
    [
        (
            "CREATE (a {at: datetime()})",
            "CREATE (a {at: datetime($at_that_time_datetime)})",
            "2026-11-21T08:30:05.250000Z",
        ),
        ("SET a.x = DateTime( )", "SET a.x = DateTime($at_that_time_datetime)", "2026-11-21T08:30:05.250000Z"),
        ("SET a.x = datetime.realtime()", "SET a.x = datetime($at_that_time_datetime)", "2026-11-21T08:30:05.250000Z"),
        (
            "SET a.x = localdatetime()",
            "SET a.x = localdatetime($at_that_time_localdatetime)",
            "2026-11-21T08:30:05.250000",
        ),
        ("SET a.x = date()", "SET a.x = date($at_that_time_date)", "2026-11-21"),
        ("SET a.x = time()", "SET a.x = time($at_that_time_time)", "08:30:05.250000Z"),
        ("SET a.x = localtime()", "SET a.x = localtime($at_that_time_localtime)", "08:30:05.250000"),
        ("SET a.x = timestamp()", "SET a.x = $at_that_time_timestamp", 1795249805250),
        ("SET a.x = date() + duration('P1D')", "SET a.x = date($at_that_time_date) + duration('P1D')", "2026-11-21"),
    ],
)
def test_the_clock_becomes_a_parameter(cypher: str, kept: str, value: object) -> None:
    found = deterministic(Statement.parse(cypher), NOW)
    assert found.statement == Statement.parse(kept)  # the same tokens too, at the same places
    assert list(found.params.values()) == [value]
    assert found.inexact == ()


@pytest.mark.parametrize(
    "cypher",
    [
        "CREATE (a {x: datetime($when), y: date('2026-01-01')})",
        "CREATE (a {text: 'datetime()'})",
        "CREATE (a) // date()",
        "CREATE (a:`date()`)",
        "MATCH (a) WHERE a.date > 3 SET a.time = 4",
        "MATCH (a) WITH a ORDER BY a.x LIMIT 1 SET a.y = 1 RETURN elementId(a), rand() LIMIT 3",
        "MATCH (a {id: $id}) SET a.rand = 1",
        "MATCH (a) SET a.day = date.truncate('month', a.at)",
        "CREATE (a {at: datetime({year: 2026, timezone: 'Europe/Berlin'})})",
    ],
)
def test_what_is_repeatable_stays_as_it_was(cypher: str) -> None:
    statement = Statement.parse(cypher)
    assert deterministic(statement, NOW) == Deterministic(statement, {})


@pytest.mark.shows("C11")
@pytest.mark.parametrize(
    ("cypher", "inexact"),
    [
        ("CREATE (a {x: rand()})", ("rand()",)),
        ("CREATE (a {x: randomUUID(), y: randomUUID()})", ("randomUUID()",)),
        ("CREATE (a {x: apoc.create.uuid()})", ("a random UUID",)),
        ("MATCH (a) WHERE elementId(a) = $x SET a.y = 1", ("elementId()",)),
        ("MATCH (a) WHERE id(a) = 1 DELETE a", ("id()",)),
        ("MATCH (a) WITH a LIMIT 3 DETACH DELETE a", ("LIMIT without ORDER BY",)),
        ("MATCH (a) WITH a SKIP 3 SET a.x = 1 RETURN a LIMIT 5", ("SKIP without ORDER BY",)),
        ("MATCH (a) WITH a ORDER BY a.x WITH a LIMIT 1 DELETE a", ("LIMIT without ORDER BY",)),
        ("CREATE (a {x: datetime({timezone: 'Asia/Tokyo'})})", ("the clock in another zone or unit",)),
        ("CREATE (a {x: date.truncate('month')})", ("the clock in another zone or unit",)),
        ("CALL { MATCH (b) RETURN b LIMIT 1 } SET b.x = rand() RETURN b", ("LIMIT without ORDER BY", "rand()")),
    ],
)
def test_what_chance_decides_is_named(cypher: str, inexact: tuple[str, ...]) -> None:
    assert deterministic(Statement.parse(cypher), NOW).inexact == inexact
