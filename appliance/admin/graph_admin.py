"""Operations on the graph from outside: query, snapshot, restore, compare, replay, verify; and where there is none."""

import asyncio
import json
from collections import Counter, deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NoReturn

from msgspec import Struct
from msgspec.structs import asdict

from agent.errors import ToolFailed
from agent.event import Event, new_id
from agent.tools.tool import Call, Tool, call_tool
from appliance.admin.archive import Everything, fetched, handed_over, write_archive
from appliance.api.requests.memory import (
    NEWEST,
    NOW,
    Backup,
    Changes,
    Diff,
    HandOver,
    ListSnapshots,
    MemoryRequest,
    Past,
    ReadAudit,
    Replay,
    Restore,
    TakeSnapshot,
    UseTool,
    VerifyAudit,
)
from appliance.errors import Exit, Problem
from appliance.owners.visitors import Visitors
from appliance.wiring.memory.graph import GraphSide
from memory.errors import EmbeddingUnavailable, GraphUnavailable, WriteNotAllowed
from memory.graph.dump.dump import Dump, write_dump
from memory.graph.dump.fingerprint import contents, fingerprint
from memory.graph.embedded.store import EmbeddedStore
from memory.graph.graph import Graph
from memory.history.audit_record import Record, changes, summed
from memory.history.erasure import erase_event
from memory.history.replay import Replayed, replay
from memory.history.restore import restore
from memory.history.snapshot import Snapshot
from memory.history.writer import Writer
from memory.json_value import Json
from memory.passing_files import folder_for_now
from memory.progress import Progress, in_hundredths

ASKED_FROM_OUTSIDE = "asked_from_outside"
"""Type of the events that other programs' use of the memory is written down under; none is in the mailbox."""

MOST_DIFFERENCES = 200
"""Nodes, and relationships, that a comparison lists each way; all are counted."""

NO_GRAPH: Final = "there is no graph here; set [memory] enabled = true"

READ_ONLY: Final = (
    "query only reads, and this statement would change something: nothing was changed; `nakari memory write` takes it"
)


class GraphAdmin(Struct, frozen=True):
    """Does what is asked, in the one process that has the state folder (`appliance.api.answers.MemoryHandler`)."""

    everything: Everything
    writer: Writer
    store: EmbeddedStore | None
    """None at a server."""
    tools: Mapping[str, Tool]
    visitors: Visitors

    async def described(self) -> list[Json]:
        """Return the tools: name, description and schema each."""
        specs = [tool.spec for tool in self.tools.values()]
        return [{"name": spec.name, "description": spec.description, "schema": dict(spec.parameters)} for spec in specs]

    async def use(self, request: UseTool) -> Json:
        """Run a tool within its own guard. Raises `Problem` with the tool's words when it refuses."""
        tool = self.tools.get(request.name)
        if tool is None:
            raise Problem(f"there is no tool {request.name}; there are {', '.join(self.tools)}", Exit.NO_INPUT)
        event = Event(ASKED_FROM_OUTSIDE, id=f"{request.source}-{new_id()}", source=request.source)
        try:
            return await call_tool(tool, json.dumps(request.arguments), Call(event.id, event))
        except ToolFailed as error:
            if request.source == "cli" and isinstance(error.__cause__, WriteNotAllowed):
                raise Problem(READ_ONLY, Exit.FAULT) from error  # the tool's words are for a model
            is_away = isinstance(error.__cause__, GraphUnavailable | EmbeddingUnavailable)
            raise Problem(str(error), Exit.UNAVAILABLE if is_away else Exit.FAULT) from error

    async def act(self, request: MemoryRequest, told: Progress) -> Json:
        """Do what is asked and return what came of it; `told` hears each hundredth once.

        Raises `MemoryFailure`, `Problem`, and what `told` does.
        """
        told = in_hundredths(told)
        match request:
            case TakeSnapshot():
                return await asyncio.to_thread(_snapshot, await self.writer.take_snapshot("asked for"))
            case Restore():
                return await self._restore(request, told)
            case Replay() | Changes() | Past():
                return await self._gone_back(request, told)
            case Backup():
                file = await _place_of(request, self.everything)
                return await write_archive(self.everything, self.writer, file, told, self.visitors.still)
        return await self._look(request)

    async def erase_event(self, event_id: str) -> int:
        """Take out of graph, audit log and snapshots what an event wrote; return how many statements it were.

        Whosever event it was: each has written into one graph, the household's or a visitor's own.
        """
        return await erase_event(self.writer, self.store, event_id) or await self.visitors.erase_event(event_id)

    async def _look(self, request: ListSnapshots | HandOver | Diff | ReadAudit | VerifyAudit) -> Json:
        match request:
            case HandOver():
                return {"file": str(await asyncio.to_thread(handed_over, self.everything.state_folder, request.name))}
            case ListSnapshots():
                listed = await self.writer.snapshots.listed()
                return await asyncio.to_thread(lambda: [*map(_snapshot, listed)])
            case Diff():
                return await self._diff(request)
            case ReadAudit():
                newest = await asyncio.to_thread(lambda: deque(self.writer.audit.records(), maxlen=request.last))
                return [_record(one) for one in newest]
            case VerifyAudit():
                return {"records": await self.writer.audit.verify()}

    async def _restore(self, request: Restore, told: Progress) -> Json:
        path = await self._named(request.snapshot)
        held = await restore(self.writer, self.store, path, told)
        return {"file": path.name, "nodes": held.nodes, "relationships": held.relationships}

    async def _named(self, name: str) -> Path:
        """Return the file of a snapshot. Raises `Problem` when there is none."""
        listed = await self.writer.snapshots.listed()
        if name == NEWEST and listed:
            return listed[-1].path
        given = [one.path for one in listed if name in (one.path.name, one.path.name.partition(".")[0])]
        path = given[0] if given else Path(name)
        if not await asyncio.to_thread(path.is_file):
            raise Problem(f"there is no snapshot {name}; `nakari memory list` names them", Exit.NO_INPUT)
        return path

    async def _diff(self, request: Diff) -> Json:
        async with folder_for_now(self.everything.state_folder, "diff-") as place:
            sides = []
            for number, name in enumerate((request.before, request.after)):
                path = place / str(number)
                if name == NOW:
                    await self._dump(self.writer.graph, path)
                sides.append(path if name == NOW else await self._named(name))
            before, after = [await asyncio.to_thread(contents, path) for path in sides]
        return _compared(before, after)

    async def _changes(self, since: datetime, told: Progress) -> Json:
        """Return the writes kept since then, and how the graph of now differs from the one of then."""
        kept = await asyncio.to_thread(lambda: [*changes(self.writer.audit.records(), since)])
        found: dict[str, Json] = {"since": since.isoformat(timespec="seconds"), "totals": {**summed(kept)}}
        found["writes"] = [
            {**asdict(each), "at": each.at.isoformat(timespec="seconds")} for each in kept[-MOST_DIFFERENCES:]
        ]
        if not kept:
            return found
        async with self._as_of(since, told) as (graph, _, place):
            await self._dump(graph, place / "then")
            await self._dump(self.writer.graph, place / "now")
            sides = [await asyncio.to_thread(contents, place / name) for name in ("then", "now")]
        return found | _compared(*sides)

    async def _gone_back(self, request: Replay | Changes | Past, told: Progress) -> Json:
        match request:
            case Replay():
                return await self._replay(request, told)
            case Changes():
                return await self._changes(request.since, told)
            case Past():
                return await self._past(request, told)

    async def _replay(self, request: Replay, told: Progress) -> Json:
        async with self._as_of(request.until, told) as (graph, done, place):
            made = place / "made"
            dump = await self._dump(graph, made)
            found = _told(done) | {"nodes": dump.nodes, "relationships": dump.relationships}
            if request.until is None:
                await self._dump(self.writer.graph, place / "now")
                found["equal"] = await asyncio.to_thread(lambda: fingerprint(made) == fingerprint(place / "now"))
            if request.file:
                await asyncio.to_thread(_copy_new, made, Path(request.file))
                found["file"] = request.file
        return found

    async def _past(self, request: Past, told: Progress) -> Json:
        async with self._as_of(request.until, told) as (graph, done, _):
            try:
                result = await graph.read(request.cypher, dict(request.params))
            except WriteNotAllowed as error:
                raise Problem("what was so can only be read: nothing was changed", Exit.FAULT) from error
        found = _told(done) | {"records": [*result.records]}
        return found | ({"truncated": result.truncated} if result.truncated else {})

    @asynccontextmanager
    async def _as_of(self, until: datetime | None, told: Progress) -> AsyncIterator[tuple[Graph, Replayed, Path]]:
        """Make the graph as it was, in a store that is gone afterwards."""
        in_state = folder_for_now(self.everything.state_folder, "replay-")
        async with in_state as place, EmbeddedStore(place / "graph") as store, Graph(store) as graph:
            yield graph, await replay(self.writer.audit, self.writer.snapshots, graph, until, told), place

    async def _dump(self, graph: Graph, path: Path) -> Dump:
        return await write_dump(graph, path, datetime.now(UTC))


class NoGraph(Struct, frozen=True):
    """Answers in place of a `GraphAdmin`, in the one process that has the state folder."""

    everything: Everything

    async def described(self) -> list[Json]:
        """Raise `Problem`, as all but a backup does."""
        _refuse()

    async def use(self, request: UseTool) -> Json:
        """Raise `Problem`."""
        _refuse()

    async def act(self, request: MemoryRequest, told: Progress) -> Json:
        """Write the backup that is asked for. Raises what `write_archive` raises, and `Problem` for all else."""
        if not isinstance(request, Backup):
            _refuse()
        file = await _place_of(request, self.everything)
        return await write_archive(self.everything, None, file, in_hundredths(told))


async def _place_of(backup: Backup, everything: Everything) -> Path:
    return Path(backup.file or await asyncio.to_thread(fetched, everything.state_folder))


def _refuse() -> NoReturn:
    raise Problem(NO_GRAPH, Exit.UNAVAILABLE)


def graph_admin_of(everything: Everything, graph: GraphSide) -> GraphAdmin | NoGraph:
    """Return who keeps this graph, and backs up everything; who only does that when there is none."""
    if graph.writer is None or graph.visitors is None:
        return NoGraph(everything)
    return GraphAdmin(everything, graph.writer, graph.store, {tool.name: tool for tool in graph.tools}, graph.visitors)


def _listed(counted: Mapping[str, int]) -> Json:
    """Return what is in a count, each as often as it is there, the first ones of many, and how many there are."""
    first = [text for text, times in sorted(counted.items()) for _ in range(times)]
    return {"count": len(first), "first": [*first[:MOST_DIFFERENCES]]}


def _compared(before: Sequence[Counter[str]], after: Sequence[Counter[str]]) -> dict[str, Json]:
    """Return what came and went between two contents: nodes, then relationships."""
    kinds = ("nodes", "relationships")
    return {
        kind: {"came": _listed(new - old), "went": _listed(old - new)}
        for kind, old, new in zip(kinds, before, after, strict=True)
    }


def _told(done: Replayed) -> dict[str, Json]:
    return {
        "base": done.base.path.name if done.base else "",
        "writes": done.writes,
        "exact": done.is_exact,
        "inexact": [*done.inexact],
        "erased": [*done.erased],
        "refused": {str(number): why for number, why in done.refused.items()},
    }


def _snapshot(one: Snapshot) -> Json:
    return {
        "file": one.path.name,
        "at": one.at.isoformat(timespec="seconds"),
        "nodes": one.nodes,
        "relationships": one.relationships,
        "bytes": one.path.stat().st_size,
        "reason": one.reason,
    }


def _record(one: Record) -> Json:
    found: dict[str, Json] = {"seq": one.seq, "at": one.at.isoformat(timespec="seconds"), "kind": one.kind}
    content: Json = "erased" if one.is_erased else None if one.content is None else dict(one.content)
    return found | {"facts": dict(one.facts), "content": content}


def _copy_new(source: Path, file: Path) -> None:
    with file.open("xb") as written:
        file.chmod(0o600)
        written.write(source.read_bytes())
