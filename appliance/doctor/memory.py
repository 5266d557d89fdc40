"""What the doctor looks at of what lasts: the state database and the graph, neither of them changed by it."""

import asyncio
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final

from appliance.admin import upgrade
from appliance.config.load import Config
from appliance.doctor.examine import Check, Line, Verdict, told_by_service
from appliance.doctor.keeping import bytes_below
from memory.errors import StateUnusable
from memory.json_value import Json

if TYPE_CHECKING:
    from memory.graph.graph import Graph
    from memory.graph.store import Neo4jServer

READ_SECONDS: Final = 6.0
"""How long the state database is read through; a very large one is not read to its end."""

STEPS: Final = 1000
"""Of SQLite's virtual machine between two looks at the clock."""

COPIED_BYTES: Final = 64_000_000
"""The largest graph that is copied to be looked at: /tmp may be memory."""

COUNTS: Final = {
    "journal entries": ("journal", "SELECT count(*) FROM journal"),
    "events waiting": (
        "mailbox",
        "SELECT count(*) FROM mailbox WHERE state IN ('pending', 'suspended', 'in_hand')",
    ),
    "given up": ("mailbox", "SELECT count(*) FROM mailbox WHERE state = 'dead'"),
}
"""What is counted in the state database: its name for people, the table, the statement."""

_CHOSEN: Final = "SELECT body ->> 'alias' FROM journal WHERE topic = ? ORDER BY seq DESC LIMIT 1"


def database(config: Config) -> Line:
    """Read the state database through without changing it: whether it is whole, and what is in it."""
    file = config.state_folder / "nakari.db"
    if not file.exists():
        return Line("database", Verdict.OK, "not begun")
    try:
        upgrade.check(config.state_folder)
    except StateUnusable as error:
        what, _, mend = str(error).partition("; ")
        return Line("database", Verdict.FAULT, what, mend)
    line = read_through(file, READ_SECONDS)
    if line.verdict is not Verdict.OK:
        return line
    log = file.with_name(f"{file.name}-wal")
    size = file.stat().st_size + (log.stat().st_size if log.exists() else 0)
    return Line(line.name, line.verdict, f"{line.what}; {size / 1e6:.1f} MB")


def graph(config: Config) -> Line:
    """Count what is in the graph: at its server, or in a copy of it that the box's own store opens beside its own."""
    if not config.memory.enabled:
        return Line("graph", Verdict.OK, "switched off")
    began = time.monotonic()
    if config.memory.uri:
        from appliance.wiring.memory.graph import server_of

        what = asyncio.run(_count_at_server(server_of(config)))
        if (told := told_by_service(config.sockets, "graph")) and told.get("reason"):
            return judge_running_graph(told)
    elif told := told_by_service(config.sockets, "graph"):
        return judge_running_graph(told)
    else:
        folder = config.state_folder / "graph"
        size = bytes_below(folder)
        what = asyncio.run(_count_in_copy(folder, size))
    return Line("graph", Verdict.OK, f"{what}, in {time.monotonic() - began:.1f} s")


def chosen_model(state_folder: Path) -> str:
    """Return the alias that `nakari model use` left for the next start, "" without one. Raises `StateUnusable`."""
    from appliance.model.switch import CHOSEN

    file = state_folder / "nakari.db"
    if not file.exists():
        return ""
    try:
        with closing(_opened_to_look(file)) as connection:
            if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'journal'").fetchone():
                return ""
            newest = connection.execute(_CHOSEN, (CHOSEN,)).fetchone()
    except sqlite3.Error as error:
        raise StateUnusable(
            f"nobody can tell which model was chosen: {file} cannot be read ({error}); see the line database"
        ) from error
    return str(newest[0] or "") if newest else ""


def read_through(file: Path, seconds: float) -> Line:
    """Judge a state database, of a large one what could be read in so many seconds. Raises `StateUnusable`."""
    until = time.monotonic() + seconds
    try:
        with closing(_opened_to_look(file)) as connection:
            connection.set_progress_handler(lambda: time.monotonic() > until, STEPS)
            return judge_database(*_looked_at(connection))
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
            return Line("database", Verdict.OK, f"whole as far as it was read in {seconds:g} s")
        raise StateUnusable(f"{file} cannot be read ({error}); look at its permissions") from error
    except sqlite3.DatabaseError as error:
        return judge_database(str(error), {})


def judge_database(damage: str, counts: Mapping[str, int]) -> Line:
    """Judge the state database by what SQLite says of it ("ok" when it is whole)."""
    if damage != "ok":
        what = f"the state database is damaged ({damage})"
        return Line("database", Verdict.FAULT, what, "restore it from a backup, or move it away to begin anew")
    told = ", ".join(f"{name}: {count}" for name, count in counts.items())
    return Line("database", Verdict.OK, f"whole; {told or 'empty'}")


def judge_running_graph(told: Mapping[str, Json]) -> Line:
    """Judge the graph by what the running service says of its store."""
    state, reason = told.get("state"), str(told.get("reason", ""))
    if state == "server" and reason:
        what, _, fix = reason.partition(": ")
        return Line("graph", Verdict.WARNING, what, fix)
    if state in ("ready", "server", "off"):
        return Line("graph", Verdict.OK, f"{state}, the running service says")
    verdict = Verdict.WARNING if state == "starting" else Verdict.FAULT
    what = f"{state}, the running service says ({reason})"
    return Line("graph", verdict, what, "it is tried again by itself; `nakari logs` may say more")


async def _count_at_server(server: "Neo4jServer") -> str:
    from memory.graph.graph import Graph

    async with Graph(server) as graph:
        return f"{await _count(graph)} at {server.uri}"


async def _count_in_copy(folder: Path, size: int) -> str:
    """Start the box's own store on a copy of the graph of `size` bytes, on nothing where that is none or too large."""
    from memory.graph.embedded.store import EmbeddedStore
    from memory.graph.graph import Graph

    with tempfile.TemporaryDirectory(prefix="nakari-doctor-") as place:
        copy = Path(place) / "graph"
        if 0 < size <= COPIED_BYTES:
            await asyncio.to_thread(shutil.copytree, folder, copy)
        async with EmbeddedStore(copy) as store, Graph(store) as graph:
            counted = await _count(graph)
    if size == 0:
        return "not begun; the box's own store starts and stops"
    return f"{counted}, {size / 1e6:.1f} MB" if size <= COPIED_BYTES else f"{size / 1e6:.0f} MB, the store starts"


async def _count(graph: "Graph") -> str:
    nodes = (await graph.read("MATCH (n) RETURN count(n) AS n")).records[0]["n"]
    relationships = (await graph.read("MATCH ()-[r]->() RETURN count(r) AS n")).records[0]["n"]
    return f"{nodes} nodes, {relationships} relationships"


def _opened_to_look(file: Path) -> sqlite3.Connection:
    """Open a database so that nothing of it changes: without a log nobody writes, and not even a lock is taken."""
    way = "mode=ro" if file.with_name(f"{file.name}-wal").exists() else "immutable=1"
    return sqlite3.connect(f"{file.absolute().as_uri()}?{way}", uri=True, timeout=1.0)


def _looked_at(connection: sqlite3.Connection) -> tuple[str, dict[str, int]]:
    """Return what SQLite says of the file ("ok" when it is whole), and how many there are of what."""
    (damage,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    counted = {name: connection.execute(sql).fetchone()[0] for name, (table, sql) in COUNTS.items() if table in tables}
    return damage, counted


CHECKS: tuple[Check, ...] = (database, graph)
