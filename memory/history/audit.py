"""The audit log: every attempt to change the graph and its outcome, in hash-chained files."""

import asyncio
import errno
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

import structlog
from msgspec import Struct

from memory.clock import utc_now
from memory.durable import replace_durably, sync_folder
from memory.errors import AuditBroken, StateUnusable
from memory.history.audit_anchor import Anchor, AuditAnchors, AuditLines, SharedLine
from memory.history.audit_record import Kind, Record, as_line, sha256
from memory.json_value import Json

T = TypeVar("T")

Behind: TypeAlias = Callable[[], None]
"""Called, blocking, before lines are taken up that another machine wrote: this one's graph lacks what they tell of."""

SEGMENT_BYTES: Final = 8_000_000
"""A file that has grown so long is closed, and the next one begun."""

BEGINNING: Final = "0" * 64
"""What the first record names as the one before."""

_OURS: Final = re.compile(r"\d{12}\.jsonl")
"""A file of the log, by the number of its first record."""

_NOT_AS_WRITTEN: Final = "the audit log is not as it was written"

log = structlog.get_logger()


class _Tail(Struct):
    """Where the log ends."""

    seq: int = 0
    hash: str = BEGINNING
    pending: dict[int, Record] = {}
    """Attempts and restores without an outcome, and what was lost since the last snapshot, by number."""

    def follow(self, record: Record) -> None:
        self.seq, self.hash = record.seq, record.hash
        if record.kind in ("attempt", "restoring", "lost"):
            self.pending[record.seq] = record
        elif record.kind in ("outcome", "restored"):
            of = int(str(record.facts.get("of", 0)))
            if of in self.pending and self.pending[of].kind != "lost":
                del self.pending[of]
        elif record.kind == "snapshot":
            self.pending = {seq: one for seq, one in self.pending.items() if one.kind != "lost"}


class AuditLog:
    """Appends records; one process at a time (the state folder's lock sees to that).

    Guarantees: a returned `append` is on the disk; order of lines is order of calls; each line holds the hash of the
    one before, so that whoever changes or takes out a line breaks the chain, which `verify` finds. A line that was torn
    by a power cut was never acknowledged and is cut off at the next start. Where the disk has changed a line, or does
    not give a file back, a "lost" record stands in its place; that is told once a file, and the log goes on. So it does
    where the log was cut off or written anew, which its anchors tell: a "lost" record is written then, that names the
    anchored one as the one before, so that `verify` finds the place for ever.
    """

    def __init__(
        self,
        folder: Path,
        now: Callable[[], datetime] = utc_now,
        anchors: AuditAnchors | None = None,
        shared: tuple[AuditLines, Behind] | None = None,
    ) -> None:
        """Without `anchors` the log is all that tells where it ended: for who only reads it.

        `shared` has the lines of all machines of a household: each is there before it is in a file here.
        """
        self.folder = folder
        self._now = now
        self._anchors = anchors
        self._shared = shared
        self._sharing = asyncio.Lock()
        self._tail: _Tail | None = None
        self._told: set[str] = set()
        """Files of which it was said that something in them is lost."""
        self._thread = ThreadPoolExecutor(1, "audit")
        """One, so that records keep their order."""

    async def open(self) -> list[Record]:
        """Read the log's end, once; return the attempts of which nobody knows what became.

        Among them is what was lost since the last snapshot: it may have been one. A log that its anchor is behind is
        taken up as it is. Raises `StateUnusable` when the folder, or the database of the anchors, cannot be used.
        """
        async with self._sharing:
            tail = await self._begin()
            return await self._run(lambda: [*tail.pending.values()])

    async def append(self, kind: Kind, facts: Mapping[str, Json], content: Mapping[str, Json] | None = None) -> Record:
        """Write a record and return it; it is on the disk then. Raises what `open` raises."""
        async with self._sharing:
            await self._begin()
            if self._shared is None:
                record = await self._run(lambda: self._keep(self._next(kind, facts, content)))
            else:
                record = await self._run(lambda: self._next(kind, facts, content))
                try:
                    await self._shared[0].add(record)
                except BaseException:  # perhaps it is there all the same: the next one looks
                    self._tail = None
                    raise
                await self._run(lambda: self._keep(record))
        await self._anchor(record.seq, record.hash)
        return record

    async def erase(self, numbers: Collection[int]) -> int:
        """Take the contents out of these records, for ever; return how many had one. Digests stay, the chain verifies.

        Each file is replaced in one step; that it happened is a record too.
        """
        await self.open()
        if self._shared is not None:
            without = await self._run(lambda: self._without_content(set(numbers)))
            await self._shared[0].erase(without)
        erased, is_told = await self._run(lambda: self._erase(set(numbers)))
        if not is_told:
            await self.append("erased", {"records": [*sorted(numbers)]})
        return erased

    async def verify(self) -> int:
        """Return how many records there are, after reading all. Raises `AuditBroken` naming the first that is wrong."""
        anchors = await self._anchored()
        return await self._run(lambda: sum(1 for _ in self.verified(anchors)))

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown()

    def records(self, after: int = 0) -> Iterator[Record]:
        """Return the records after a number, in order, without checking the chain. Blocking: for a worker thread.

        A torn last line is left out.
        """
        files = self._files()
        first = max((index for index, file in enumerate(files) if int(file.stem) <= after + 1), default=0)
        return (record for record in self._all(files[first:]) if record.seq > after)

    def outline(self) -> Iterator[Record]:
        """Return all records without their contents: those of years are more than memory holds. Blocking."""
        return (record.without_content() for record in self.records())

    def verified(self, anchors: Iterable[Anchor] = ()) -> Iterator[Record]:
        """Yield all records, checking each, and against anchors that were read before.

        Blocking. Raises `AuditBroken` naming the first that is wrong.
        """
        anchored, held = {anchor.seq: anchor.hash for anchor in anchors}, 0
        hash_before, seq = BEGINNING, 0
        for record in self.records():
            if record.kind == "lost" or record.seq != seq + 1 or record.previous != hash_before:
                first = record.facts.get("record", seq + 1)
                raise AuditBroken(f"{_NOT_AS_WRITTEN}: record {first} is missing or was changed")
            if not record.is_whole:
                raise AuditBroken(f"{_NOT_AS_WRITTEN}: the content of record {record.seq} is not")
            hash_before, seq = record.hash, record.seq
            if anchored.get(seq, hash_before) != hash_before:
                place = f"a record between {held + 1} and {seq}"
                raise AuditBroken(f"{_NOT_AS_WRITTEN}: from {place} on it is another")
            held = seq if seq in anchored else held
            yield record
        if (last := max(anchored, default=0)) > seq:
            raise AuditBroken(f"{_NOT_AS_WRITTEN}: it ends at record {seq}, and {last} were written")

    async def _run(self, function: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function)

    def _files(self) -> list[Path]:
        return sorted(file for file in self.folder.glob("*.jsonl") if _OURS.fullmatch(file.name) and file.is_file())

    def _all(self, files: list[Path]) -> Iterator[Record]:
        last = None
        for file in files:
            try:
                for record in self._read(file, last):
                    last = record
                    yield record
            except OSError:
                last = self._lost(file, last)
                yield last

    def _read(self, file: Path, last: Record | None) -> Iterator[Record]:
        """Yield the records of a file, `last` having been the one before. Raises OSError."""
        with file.open("rb") as lines:
            for line in lines:
                if line.endswith(b"\n"):
                    try:
                        last = Record.from_line(line)
                    except ValueError:
                        last = self._lost(file, last)
                    yield last

    def _lost(self, file: Path, last: Record | None) -> Record:
        """Return what stands for the next record in a file, and say so, once a file."""
        seq, at = (last.seq + 1, last.at) if last else (0, datetime.fromtimestamp(0, UTC))
        lost = Record(max(int(file.stem), seq), at, "lost", {}, "", "")
        if file.name not in self._told:
            self._told.add(file.name)
            log.error("audit_damaged", file=str(file), record=lost.seq, fix="put it back from a backup")
        return lost

    async def _begin(self) -> _Tail:
        """Return where the log ends, read once; nobody else may begin meanwhile."""
        if self._tail is not None:
            return self._tail
        anchors = await self._anchored() if self._shared is None else []
        tail = await self._run(lambda: self._open(anchors[-1] if anchors else None))
        if self._shared is not None:
            await self._take_up(tail, *self._shared)
        self._tail = tail
        if self._shared is None and tail.seq:
            if self._anchors is not None and not anchors:
                log.warning("audit_anchored", records=tail.seq)
            await self._anchor(tail.seq, tail.hash)
        return tail

    async def _anchored(self) -> list[Anchor]:
        return [] if self._anchors is None else await self._anchors.all()

    async def _anchor(self, seq: int, hash_: str) -> None:
        """Have the anchor follow; one that stays behind is brought up by the next."""
        if self._anchors is not None and self._shared is None:
            try:
                await self._anchors.add(Anchor(seq, hash_))
            except StateUnusable as error:
                log.warning("audit_not_anchored", reason=str(error))

    def _open(self, anchor: Anchor | None) -> _Tail:
        tail = _Tail()
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            last = self._files()[-2:]
            for file in last:
                _repair_end(file)
            # Writes come one after another: an attempt without an outcome is never far from the end.
            for record in self.records(after=int(last[0].stem) - 1 if last else 0):
                tail.follow(record)
            if anchor is not None:
                there = next(self.records(after=anchor.seq - 1), None)
                if there is None or (there.seq, there.hash) != (anchor.seq, anchor.hash):
                    self._go_on_after(anchor, tail)
        except OSError as error:
            raise _unusable(self.folder, error) from error
        return tail

    def _go_on_after(self, anchor: Anchor, tail: _Tail) -> None:
        """Write down, in a log that does not hold its anchor, that it does not. Raises OSError."""
        first = min(tail.seq + 1, anchor.seq)
        log.error("audit_damaged", folder=str(self.folder), record=first, fix="put it back from a backup")
        seq = max(tail.seq, anchor.seq) + 1
        lost = Record(seq, self._now(), "lost", {"record": first}, "", anchor.hash)
        self._write(lost)
        tail.follow(lost)

    def _next(self, kind: Kind, facts: Mapping[str, Json], content: Mapping[str, Json] | None) -> Record:
        assert self._tail is not None
        digest = "" if content is None else sha256(as_line(content))
        return Record(self._tail.seq + 1, self._now(), kind, facts, digest, self._tail.hash, content)

    def _keep(self, record: Record) -> Record:
        assert self._tail is not None
        try:
            self._write(record)
        except OSError as error:
            raise _unusable(self.folder, error) from error
        self._tail.follow(record)
        return record

    async def _take_up(self, tail: _Tail, lines: AuditLines, behind: Behind) -> None:
        """Bring files and shared lines to the same end. Raises `StateUnusable`, `AuditBroken`."""
        there = await lines.after(max(0, tail.seq - 1))
        if tail.seq and not there:
            await lines.share(await self._run(lambda: [*self.records()]))
            return
        try:
            await self._run(lambda: self._follow(tail, there, lines.machine, behind))
        except OSError as error:
            raise _unusable(self.folder, error) from error

    def _follow(self, tail: _Tail, lines: Sequence[SharedLine], machine: str, behind: Behind) -> None:
        """Write into the files what of the shared lines they lack. Raises OSError, `AuditBroken`."""
        known = bool(tail.seq)  # the first of them is the last one here
        records = [Record.from_line(each.line) for each in lines]
        if known and records[0].hash != tail.hash:
            raise AuditBroken(f"{self.folder} is the audit log of another graph than the household's; move it away")
        if any(each.machine != machine for each in lines[known:]):
            behind()
        for record in records[known:]:
            self._write(record)
            tail.follow(record)
        if erased := frozenset[int]().union(*(record.erases for record in records[known:])):
            self._erase(set(erased))
        if new := len(records) - known:
            log.info("audit_taken_up", records=new, last=tail.seq)

    def _write(self, record: Record) -> None:
        files = self._files()
        is_full = not files or files[-1].stat().st_size >= SEGMENT_BYTES
        path = self.folder / f"{record.seq:012}.jsonl" if is_full else files[-1]
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            before = os.fstat(descriptor).st_size
            try:
                line = record.to_line()
                if os.write(descriptor, line) != len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # noqa: TRY301
                os.fdatasync(descriptor)
            except OSError:
                # Half a line would make the next one unreadable.
                os.ftruncate(descriptor, before)
                raise
        finally:
            os.close(descriptor)
        if is_full:
            sync_folder(self.folder)

    def _without_content(self, numbers: set[int]) -> dict[int, bytes]:
        found = (record for record in self.records() if record.seq in numbers and record.content is not None)
        return {record.seq: record.without_content().to_line() for record in found}

    def _erase(self, numbers: set[int]) -> tuple[int, bool]:
        """Return how many records had a content, and whether the log tells of all these erasures already."""
        erased = 0
        had, told = set[int](), set[int]()
        for file in self._files():
            try:
                read = [*self._read(file, None)]
            except OSError as error:
                raise _unusable(self.folder, error) from error
            had.update(record.seq for record in read if record.seq in numbers and record.digest)
            told.update(*(record.erases for record in read))
            found = [record for record in read if record.seq in numbers and record.content is not None]
            if found or any(record.kind == "lost" for record in read):  # whose words a lost line holds, nobody knows
                kept = [record.without_content() if record in found else record for record in read]
                replace_durably(file, (record.to_line() for record in kept))
                erased += len(found)
        return erased, had <= told  # not also after a crash in between: whoever cleans the graph goes by the record


def _repair_end(file: Path) -> None:
    """Cut off a line that was torn; one that was whole, or never a line, gets the end that the disk took from it."""
    content = file.read_bytes()
    whole = content.rfind(b"\n") + 1
    rest = content[whole:]
    if not rest:
        return
    was_whole = _is_record(rest[:-1])
    if was_whole or not (whole or rest.startswith(b"{")):
        with file.open("r+b") as ended:
            ended.seek(-was_whole, os.SEEK_END)
            ended.write(b"\n")
    else:
        log.warning("audit_line_torn", bytes=len(rest))
        os.truncate(file, whole)


def _is_record(line: bytes) -> bool:
    try:
        Record.from_line(line)
    except ValueError:
        return False
    return True


def _unusable(folder: Path, error: OSError) -> StateUnusable:
    what = f"the audit log in {folder} cannot be written ({error.strerror})"
    is_in_the_way = isinstance(error, FileExistsError | NotADirectoryError)
    mend = "move that away, it is no folder" if is_in_the_way else "make room, or make it writable"
    return StateUnusable(f"{what}: {mend}")
