"""A record of the audit log: its format, its link to the one before, and the changes of the graph that it tells."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Literal, Self, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from memory.json_value import Json

Kind: TypeAlias = Literal["attempt", "outcome", "snapshot", "restoring", "restored", "erased", "lost"]
"""The last is what stands in a log's place where the disk has changed a line: nobody knows what it was."""


class Origin(Struct, frozen=True):
    """On whose behalf something is written."""

    event_id: str = ""
    owner_key: str = "household"


class Record(Struct, frozen=True):
    """One line of the log."""

    seq: int
    """1, 2, 3 …"""
    at: datetime
    """Aware UTC; when it was written, by the writer's clock."""
    kind: Kind
    facts: Mapping[str, Json]
    """What is not its own: ids, counters, names of files."""
    digest: str
    """SHA-256 of the content's JSON; "" where there never was one."""
    previous: str
    """`hash` of the record before."""
    content: Mapping[str, Json] | None = None
    """What is its own: statement and parameters. None where there is none, and after an erasure."""

    @property
    def hash(self) -> str:
        """SHA-256 over everything but the content, whose digest stands for it: so an erased one still verifies."""
        return sha256(as_line({key: value for key, value in self._as_json().items() if key != "content"}))

    @property
    def is_erased(self) -> bool:
        """Whether its content was taken out on a person's wish."""
        return bool(self.digest) and self.content is None

    @property
    def is_whole(self) -> bool:
        """Whether its content, where it has one, is what was written."""
        return self.content is None or sha256(as_line(self.content)) == self.digest

    @property
    def erases(self) -> frozenset[int]:
        """The records whose contents were taken out, as this one tells."""
        numbers = self.facts.get("records") if self.kind == "erased" else None
        return frozenset(int(str(number)) for number in numbers) if isinstance(numbers, list) else frozenset()

    def to_line(self) -> bytes:
        """Return it as a line of the file."""
        return as_line({**self._as_json(), "hash": self.hash}).encode() + b"\n"

    def without_content(self) -> "Record":
        """Return it as it is after an erasure."""
        return replace(self, content=None)

    @classmethod
    def from_line(cls, line: bytes) -> Self:
        """Return the record of a line. Raises ValueError when it is none, or not as it was written."""
        try:
            read = json.loads(line)
            at, written = datetime.fromisoformat(read.pop("at")), read.pop("hash", None)
            record = cls(at=at, previous=read.pop("prev"), **read)
            if written not in (None, record.hash):  # lines of before 2026-11-21 have none
                raise ValueError("the record is not as it was written")
        except (TypeError, KeyError, AttributeError, RecursionError) as error:
            raise ValueError("no record of the audit log") from error
        return record

    def _as_json(self) -> dict[str, Json]:
        chained: dict[str, Json] = {"seq": self.seq, "at": self.at.isoformat(), "kind": self.kind}
        chained |= {"facts": dict(self.facts), "digest": self.digest, "prev": self.previous}
        return chained if self.content is None else {**chained, "content": dict(self.content)}


def as_line(value: Mapping[str, Json]) -> str:
    """Return the one way a record, or a content, is written."""
    # In ASCII, because what a model sends may hold characters that UTF-8 has no bytes for.
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def sha256(text: str) -> str:
    """Return the digest of a text, in hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


class Change(Struct, frozen=True):
    """One write that was kept."""

    at: datetime
    """Aware UTC; when it was attempted."""
    event_id: str
    statement: str
    """ "" where its content was erased."""
    stats: Mapping[str, int] = {}
    """By Neo4j's names of counters, without zeros."""


def changes(records: Iterable[Record], since: datetime) -> Iterator[Change]:
    """Yield the writes attempted at or after an aware moment and kept, in the order of their outcomes. Blocking."""
    attempts = dict[int, Record]()
    for record in records:
        if record.kind == "attempt" and record.at >= since:
            attempts[record.seq] = record
        elif record.kind == "outcome":
            attempt = attempts.pop(int(str(record.facts.get("of", 0))), None)
            if attempt is not None and record.facts.get("committed"):
                yield _change(attempt, record)


def summed(kept: Iterable[Change]) -> dict[str, int]:
    """Return what the writes did altogether, by Neo4j's names of counters, without zeros."""
    counts = Counter[str]()
    for each in kept:
        counts.update(each.stats)
    return {name: count for name, count in counts.items() if count}


def _change(attempt: Record, outcome: Record) -> Change:
    stats = outcome.facts.get("stats")
    return Change(
        attempt.at,
        str(attempt.facts.get("event_id", "")),
        str((attempt.content or {}).get("cypher", "")),
        {name: int(str(count)) for name, count in stats.items()} if isinstance(stats, dict) else {},
    )
