"""A forgetting cut off at its end, and one looked for at each start in a log that grew for years."""

import tracemalloc
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.history.audit_record import Record
from memory.history.erasure import erase_event, finish
from memory.json_value import Json
from tests.memory.history.test_erasure import NAME, SECRET, found_in, told
from tests.memory.history.test_repair import Home


@pytest.mark.shows("V29", "C15")
async def test_nothing_holds_what_was_forgotten_when_it_is_said_that_nothing_is_left_to_do(tmp_path: Path) -> None:
    """Killed right after that was said, nobody would look again."""
    home, left = Home(tmp_path), list[list[Path]]()

    def now() -> datetime:
        left.append(found_in(tmp_path, NAME))
        return datetime.now(UTC)

    async with home.supervised():
        await told(home)
        home.snapshots._now = now
        await erase_event(home.writer, home.store, SECRET.event_id)
    assert left == [[]]


@pytest.mark.shows("C11")
async def test_what_is_yet_to_be_forgotten_is_found_out_without_the_log_in_memory(tmp_path: Path) -> None:
    home, at = Home(tmp_path), datetime.now(UTC)
    home.audit.folder.mkdir()
    content: dict[str, Json] = {"cypher": "CREATE (:A {t: $t})", "params": {"t": "word " * 2_000}}
    for first in range(1, 1201, 400):
        with (home.audit.folder / f"{first:012}.jsonl").open("wb") as file:
            for seq in range(first, first + 400, 2):
                file.write(Record(seq, at, "attempt", {"event_id": ""}, "", "", content).to_line())
                file.write(Record(seq + 1, at, "outcome", {"of": seq, "committed": True}, "", "").to_line())
    assert await home.audit.open() == []
    tracemalloc.start()
    try:
        assert not await finish(home.writer, home.store)
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()
    outline = list(home.audit.outline())
    assert (len(outline), outline[0].content) == (1200, None)
    home.audit.close()
