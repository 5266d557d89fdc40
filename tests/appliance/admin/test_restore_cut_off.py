"""A restore killed in the middle: at the next start the box is whole, and its graph what the backup holds."""

import asyncio
from pathlib import Path

import pytest

from appliance.admin.archive import Manifest, unpack
from appliance.admin.local import local_admin
from appliance.admin.restoring import restore_archive
from appliance.wiring.memory.state import open_state
from memory.errors import GraphUnavailable
from memory.graph.dump.fingerprint import fingerprint
from tests.appliance.admin.boxes import KeptBox, silent
from tests.appliance.admin.test_backup import looks, saved
from tests.appliance.admin.test_exchange import killing
from tests.appliance.admin.test_graph_admin import query, records, write

pytest_plugins = ["tests.memory.graph_fixtures"]

FOURTH = 4
"""Step of the exchange before which it is killed: some of the old state is aside, nothing new in its place."""


async def backed_up(folder: Path) -> Path:
    """Return a backup of somebody who lived."""
    file = folder / "all.nakari"
    await saved(KeptBox(folder / "one"), file)
    return file


@pytest.mark.shows("H7", "A24")
async def test_cut_off_in_the_middle_it_is_finished_at_the_next_start(tmp_path: Path) -> None:
    file, box = await backed_up(tmp_path), KeptBox(tmp_path / "other")
    async with local_admin(box.config()) as admin:
        await admin.use(write("CREATE (:Old)"))
    manifest: Manifest = await asyncio.to_thread(unpack, file, box.state / "restoring")
    with killing("exchange_program") as killed_before:
        assert await asyncio.to_thread(killed_before, FOURTH, box.state)
    assert not (box.state / "nakari.db").exists() or not (box.state / "audit").exists()
    async with open_state(box.config().state_folder) as state:
        timer = await state.mailbox.find("timer-1")
        assert timer is not None
    async with local_admin(box.config()) as admin:
        taken = await admin.writer.take_snapshot("to look")
        assert await asyncio.to_thread(fingerprint, taken.path) == manifest.graph
        assert records(await admin.use(query("MATCH (n:Old) RETURN n"))) == []
        assert await admin.writer.audit.verify() == 4


class Cut(Exception):
    """Ends a restore where a crash might."""


def cut(done: int, of: int) -> None:
    raise Cut


@pytest.mark.neo4j
@pytest.mark.shows("H7", "C18", "A24")
async def test_cut_off_while_a_server_is_filled_it_is_gone_on_with(tmp_path: Path, neo4j_uri: str) -> None:
    file = await backed_up(tmp_path)
    box = KeptBox(tmp_path / "other", f'uri = "{neo4j_uri}"')
    with pytest.raises(ExceptionGroup) as told:
        await restore_archive(box.config(), file, cut)
    assert told.group_contains(Cut)
    manifest = await asyncio.to_thread(unpack, file, tmp_path / "unpacked")
    async with local_admin(box.config()) as admin:
        taken = await admin.writer.take_snapshot("to look")
        assert await asyncio.to_thread(fingerprint, taken.path) == manifest.graph
        assert [record.kind for record in admin.writer.audit.records()][-3:] == ["restoring", "restored", "snapshot"]


@pytest.mark.shows("H7", "C15")
async def test_where_the_graph_s_server_is_away_nothing_is_changed(tmp_path: Path, unused_tcp_port: int) -> None:
    file = await backed_up(tmp_path)
    box = KeptBox(tmp_path / "other", f'uri = "bolt://127.0.0.1:{unused_tcp_port}"')
    async with open_state(box.config().state_folder):
        pass
    before = looks(box.state)
    with pytest.raises(GraphUnavailable, match="cannot be reached now"):
        await restore_archive(box.config(), file, silent)
    assert looks(box.state) == before
