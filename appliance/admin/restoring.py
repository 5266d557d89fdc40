"""Restores everything from an archive: checked first, then put in place, what was there moved aside."""

import asyncio
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, closing
from pathlib import Path
from typing import Final

from appliance.admin import exchange, upgrade
from appliance.admin.archive import CONFIGURATION, Manifest, unpack
from appliance.admin.graph_admin import GraphAdmin
from appliance.admin.local import local_admin
from appliance.api.client import find_service
from appliance.config.load import Config
from appliance.errors import AlreadyRunning, Exit, Problem, ServiceNotRunning
from appliance.wiring.memory.graph import server_of
from memory.errors import StateUnusable
from memory.graph.dump.fingerprint import fingerprint
from memory.graph.graph import Graph
from memory.graph.store import Neo4jServer
from memory.history.audit import AuditLog
from memory.history.restore import begin_restore
from memory.history.snapshot import EVERYTHING_RESTORED, Snapshots
from memory.history.writer import Writer
from memory.json_value import Json
from memory.progress import Progress

REBUILD_SECONDS: Final = 3600.0
"""For making a graph of millions from its snapshot; one of 100,000 nodes takes minutes on a small box."""


async def restore_archive(config: Config, path: Path, told: Progress) -> Json:
    """Make this box what a backup holds; what was here before is kept in a folder beside it.

    The store of the box makes the graph from the snapshot in the archive; a server's graph is emptied and filled, a
    snapshot of what was in it before stays among the snapshots. Cut off at any moment, the box is what it was, or
    becomes what the backup holds at its next start. `path` may also be a folder that was put aside here: it becomes the
    state again, as it is. Raises `Problem` or `GraphUnavailable`, before anything is changed, for an archive that is
    torn, changed, foreign or of a newer nakari, while a nakari is running, and where a server does not answer.
    """
    await asyncio.to_thread(_refuse_running, config.sockets)
    state = config.state_folder
    if await asyncio.to_thread(path.is_dir):
        return await asyncio.to_thread(_take_back, state, path)
    place = state / "restoring"
    with exchange.alone(state):
        await asyncio.to_thread(shutil.rmtree, place, ignore_errors=True)
        try:
            manifest = await asyncio.to_thread(_checked, path, place)
            if config.memory.enabled and config.memory.uri and manifest.snapshot:
                await _announce(server_of(config), place, manifest.snapshot)
            before = await asyncio.to_thread(exchange.begin, state, place)
        finally:
            await asyncio.to_thread(shutil.rmtree, place, ignore_errors=True)
    await asyncio.to_thread(exchange.finish, state)
    found: dict[str, Json] = {"at": manifest.at, "files": len(manifest.files), "kept_aside": str(before)}
    if (state / CONFIGURATION).exists():
        found["configuration"] = str(state / CONFIGURATION)
    if manifest.snapshot and config.memory.enabled:
        found |= await _graph(local_admin(config, REBUILD_SECONDS), manifest, told)
    return found


def _take_back(state: Path, aside: Path) -> Json:
    """Make a state what was put aside of it. Raises `Problem`, `StateUnusable`; nothing is changed then."""
    with exchange.alone(state):
        is_ours = aside.parent.resolve() == state.resolve() and aside.name.startswith(exchange.ASIDE)
        if not (is_ours and (aside / exchange.DATABASE).exists()):
            what = f"{aside} is no backup, nor a state that was put aside in {state}"
            raise Problem(f"{what}; nothing was changed", Exit.NO_INPUT)
        upgrade.check(aside)
        kept = exchange.begin(state, aside)
    exchange.finish(state)
    return {"kept_aside": str(kept)}


def _refuse_running(sockets: Sequence[Path]) -> None:
    try:
        path = find_service(sockets)
    except ServiceNotRunning:
        return
    raise AlreadyRunning(f"a nakari is running ({path}); stop it before everything it is made of is changed")


def _checked(path: Path, place: Path) -> Manifest:
    """Unpack and look at what matters most. Raises `Problem`."""
    manifest = unpack(path, place)
    if told := _damage(place / exchange.DATABASE):
        what = f"{path} is no whole backup of a nakari (its database is damaged: {told}); nothing was changed"
        raise Problem(what, Exit.NO_INPUT)
    try:
        upgrade.check(place)
    except upgrade.LaterLayout as error:
        what = f"{path} was made by a newer nakari ({manifest.version}); nothing was changed. Upgrade this one first"
        raise Problem(what, Exit.NO_INPUT) from error
    except StateUnusable as error:
        what = f"{path} is no whole backup of a nakari (its {upgrade.FILE} is damaged); nothing was changed"
        raise Problem(what, Exit.NO_INPUT) from error
    if manifest.snapshot and fingerprint(place / "snapshots" / manifest.snapshot) != manifest.graph:
        raise Problem(f"the graph in {path} is not what was written; nothing was changed", Exit.NO_INPUT)
    return manifest


def _damage(database: Path) -> str:
    """Return what is wrong with a state database that nobody has open; "" where nothing is, and where there is none."""
    if not database.exists():
        return ""
    if not database.stat().st_size:
        return "it is empty"
    try:
        with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            (told,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        return str(error)
    return "" if told == "ok" else str(told)


async def _announce(server: Neo4jServer, place: Path, snapshot: str) -> None:
    """Keep what the server holds now, and write into the new state that its graph is to become this snapshot.

    Whoever opens that state next makes it so. Raises `GraphUnavailable`.
    """
    with closing(AuditLog(place / "audit")) as audit:
        async with Graph(server) as graph:
            writer = Writer(graph, audit, Snapshots(place / "snapshots", audit))
            async with writer.exclusively() as alone:
                await begin_restore(alone, writer.snapshots.folder / snapshot)


async def _graph(
    opened: AbstractAsyncContextManager[GraphAdmin], manifest: Manifest, told: Progress
) -> dict[str, Json]:
    """Make the graph what the archive's snapshot holds, and look at what came out."""
    async with opened as admin:
        async with admin.writer.exclusively(told) as alone:
            taken = await alone.snapshot(EVERYTHING_RESTORED)
        is_equal = await asyncio.to_thread(fingerprint, taken.path) == manifest.graph
    if not is_equal:
        raise Problem("everything was restored, but the graph came out otherwise than it was", Exit.FAULT)
    return {"nodes": taken.nodes, "relationships": taken.relationships}
