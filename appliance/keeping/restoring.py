"""Everything she is put back from an archive: checked first, then put in place, what was there kept aside."""

import asyncio
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from agent.model.messages import Json
from appliance.config import Config
from appliance.door.client import find_service
from appliance.errors import AlreadyRunning, Problem, ServiceNotRunning
from appliance.exits import Exit
from appliance.keeping.alone import keeper_alone
from appliance.keeping.archive import CONFIGURATION, DATABASE, MANIFEST, Manifest, unpack
from appliance.keeping.progress import Progress
from appliance.state import open_state
from memory.graph.fingerprint import fingerprint
from memory.rebuild import restore

REBUILD_SECONDS: Final = 3600.0
"""For making a graph of millions from its snapshot; one of 100,000 nodes takes minutes on a small box."""

STAYS: Final = ("models", "logs")
"""Of what was there: it is in no archive and need not be fetched again."""


async def restore_archive(config: Config, path: Path, told: Progress) -> Json:
    """Make this box what a backup holds; what was here before is kept in a folder beside it.

    The store of the box makes her graph from the snapshot in the archive; a server's graph is emptied and filled, a
    snapshot of what was in it before stays among the snapshots. Raises `Problem`, before anything is changed, for an
    archive that is torn, changed or foreign, and while a nakari is running.
    """
    await asyncio.to_thread(_refuse_running, config)
    state = config.state_folder
    place = state / "restoring"
    async with open_state(config):  # for its lock, and that the folder can be written
        await asyncio.to_thread(shutil.rmtree, place, ignore_errors=True)
        try:
            manifest = await asyncio.to_thread(_checked, path, place)
            before = state / f"before-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
            await asyncio.to_thread(_swap, state, place, before)
        finally:
            await asyncio.to_thread(shutil.rmtree, place, ignore_errors=True)
    found: dict[str, Json] = {"at": manifest.at, "files": len(manifest.files), "kept_aside": str(before)}
    if (state / CONFIGURATION).exists():
        found["configuration"] = str(state / CONFIGURATION)
    if manifest.snapshot and config.memory.enabled:
        found |= await _graph(config, manifest, told)
    return found


def _refuse_running(config: Config) -> None:
    try:
        path = find_service(config.sockets)
    except ServiceNotRunning:
        return
    raise AlreadyRunning(f"a nakari is running ({path}); stop it before everything it is made of is changed")


def _checked(path: Path, place: Path) -> Manifest:
    """Unpack and look at what matters most. Raises `Problem`."""
    manifest = unpack(path, place)
    database = place / DATABASE
    if database.exists():
        with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            (told,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if told != "ok":
            raise Problem(f"the database in {path} is damaged ({told}); nothing was changed", Exit.NO_INPUT)
    if manifest.snapshot and fingerprint(place / "snapshots" / manifest.snapshot) != manifest.graph:
        raise Problem(f"the graph in {path} is not what was written; nothing was changed", Exit.NO_INPUT)
    return manifest


def _swap(state: Path, place: Path, before: Path) -> None:
    """Put what is there aside and what was unpacked in its place; both are renames, within one file system."""
    before.mkdir(mode=0o700)
    for item in state.iterdir():
        stays = item in (place, before) or item.name in STAYS or item.suffix == ".lock"
        if not stays and not item.name.startswith("before-"):
            item.rename(before / item.name)
    for item in place.iterdir():
        if item.name != MANIFEST:
            item.rename(state / item.name)


async def _graph(config: Config, manifest: Manifest, told: Progress) -> dict[str, Json]:
    """Make the graph what the archive's snapshot holds, and look at what came out."""
    async with keeper_alone(config, REBUILD_SECONDS) as keeper:
        snapshots = keeper.writer.snapshots
        if keeper.store is None:
            await restore(keeper.writer, None, snapshots.folder / manifest.snapshot, told)
        taken = await keeper.writer.take_snapshot("after a restore of everything")
        is_equal = await asyncio.to_thread(fingerprint, taken.path) == manifest.graph
    if not is_equal:
        raise Problem("everything was restored, but her graph came out otherwise than it was", Exit.FAULT)
    return {"nodes": taken.nodes, "relationships": taken.relationships}
