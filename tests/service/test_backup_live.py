"""A backup of a box that runs, by the commands a person types, is that box elsewhere: to the timer that rings."""

import asyncio
import json
import sqlite3
import tarfile
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from agent.event import HOUSEHOLD, TIMER, Event, utc_now
from appliance.admin.exchange import MANIFEST
from appliance.config.options import RunOptions
from appliance.errors import Exit
from appliance.timers.due import RANG
from memory.history.audit_anchor import anchors_in
from memory.identity import new_key
from tests.room.virtual_time import passed
from tests.service.living import KEEP, Living, living
from tests.service.process import Household

DUE_SECONDS = 15.0
"""After which the timer rings: about when the other box is up."""


def a_home(folder: Path) -> Household:
    folder.mkdir()
    return Household(folder, {"memory": {"enabled": True, "embeddings": "off"}})


async def settled(box: Living) -> str:
    """Give it what is not said in words: a timer, a member, a setting; return the member's key."""
    due = utc_now() + timedelta(seconds=DUE_SECONDS)
    await box.box.household.mailbox.enqueue(Event(TIMER, "the bread is done", id="bread", not_before=due))
    key = new_key()[1]
    box.box.owners.identities.register("Ada", key)
    await box.box.owners.settings.set(HOUSEHOLD, "prompt.persona", "Be short.")
    return key


async def talks(box: Living, who: str, enough: asyncio.Event) -> list[str]:
    """Keep telling it things until that is enough; return those that it answered."""
    told: list[str] = []
    while not enough.is_set():
        await box.asked(f"{KEEP}{who} {len(told)}", session=who)
        told.append(f"{who} {len(told)}")
    return told


def rows_of(database: Path) -> list[str]:
    """Return everything in a state database, as statements, but for the audit log's anchor.

    That follows the log, which a restore adds a snapshot to.
    """
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        return [row for row in connection.iterdump() if not row.startswith('INSERT INTO "audit_anchors"')]


def unpacked(file: Path, folder: Path) -> Path:
    with tarfile.open(file) as archive:
        for member in archive:
            file = folder / member.name
            file.parent.mkdir(parents=True, exist_ok=True)
            if content := archive.extractfile(member):
                file.write_bytes(content.read())
    return folder


def acknowledged(database: Path) -> set[str]:
    """Return the texts that the journal says its graph has taken."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        rows = connection.execute("SELECT body FROM journal WHERE topic = 'context.message'").fetchall()
    messages = [json.loads(body)["message"] for (body,) in rows]
    observed = [message["content"] for message in messages if message["role"] == "tool"]
    written = [json.loads(content)["records"] for content in observed if '"stats"' in content]
    return {record["text"] for records in written for record in records}


async def backed_up(one: Household, file: Path) -> tuple[str, set[str], int]:
    """Live, and be backed up meanwhile; return the member's key, what was told, and how much of it after the backup."""
    async with living(one) as box:
        await box.ready()
        key = await settled(box)
        enough = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            people = [group.create_task(talks(box, who, enough)) for who in ("ben", "cleo")]
            await box.keeps("the first")
            done = await asyncio.to_thread(one.run, "backup", str(file), "--json")
            assert done.returncode == Exit.OK, done.stderr
            before = len(box.model.observed)
            await box.keeps("the last")
            enough.set()
        told = {text for person in people for text in person.result()}
        return key, told | {"the first", "the last"}, len(box.model.observed) - before


@pytest.mark.shows("H7", "A9", "V23")
async def test_a_backup_of_it_while_it_lives_is_it_on_another_box(tmp_path: Path) -> None:
    one, other, file = a_home(tmp_path / "one"), a_home(tmp_path / "other"), tmp_path / "all.nakari"
    key, told, later = await backed_up(one, file)
    assert later >= 1, "it went on"
    restored = await asyncio.to_thread(other.run, "restore", str(file), "--json")
    assert restored.returncode == Exit.OK, restored.stderr
    place = await asyncio.to_thread(unpacked, file, tmp_path / "unpacked")
    for name in json.loads((place / MANIFEST).read_text())["files"]:
        if not name.startswith(("audit/", "nakari.db")):
            assert (other.state / name).read_bytes() == (place / name).read_bytes()
    assert await asyncio.to_thread(rows_of, other.state / "nakari.db") == rows_of(place / "nakari.db")
    assert anchors_in(other.state / "nakari.db")[-1].seq > anchors_in(place / "nakari.db")[-1].seq > 0
    kept = acknowledged(place / "nakari.db")
    assert "the first" in kept
    async with living(other, RunOptions(output=other.folder / "heard.wav")) as box:
        async with asyncio.timeout(120):
            while not await asyncio.to_thread(other.rows, "SELECT 1 FROM journal WHERE topic = ?", RANG):
                await passed(0.1)
        await box.ready()
        assert kept <= set(await box.knows()) <= told
        assert "the last" not in await box.knows()
        assert box.box.owners.identities.find(key).name == "Ada"
        assert await box.box.owners.of(HOUSEHOLD) == {"persona": "Be short."}
        assert box.box.graph.writer is not None
        assert await box.box.graph.writer.audit.verify() > len(kept)
