"""The store's own process: ArcadeDB native serving Bolt on loopback, for as long as its parent lives.

Started by `memory.graph.embedded.store` as a process of its own. Its first line of standard input is a `Settings`
object in JSON; the end of standard input stops it. Its one line of standard output is `{"bolt": port, "http": port}`
or `{"error": sentence, "damaged": bool, "may_open": bool}`. It imports nothing of ours but what looks at its folder.
"""

import ctypes
import importlib.util
import json
import os
import random
import resource
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final, cast

from msgspec import Struct

from memory.graph.embedded import checksums
from memory.graph.embedded.folder import DATABASE, Damaged, Unstartable, enter, look, undeclare, writable

READER: Final = "reader"
WRITER: Final = "writer"

OPEN_FILES: Final = 65_536
"""Descriptors; each set of labels and each relationship type costs files."""

PAGE_SIZE: Final = 16_384
"""Bytes of a bucket's page: the smallest that works, because every new label costs one (8192 breaks writes)."""

SALT_ITERATIONS: Final = 1_000
"""Rounds of PBKDF2: the passwords are 256 random bits, stretching them would only slow start and connect."""

LOG_BYTES: Final = 1_000_000
"""Bytes of each of the engine's two log files."""

OWN_PORTS: Final = range(16_384, 32_768)
"""Where a free port is looked for: below those that Linux gives to connections, one of which could take it first."""

TIMER_SLACK: Final = 0.2
"""Seconds by which the kernel may put off a timer of the engine.

Its clock for which page was used last wakes a hundred times a second, and no setting ends that; with this five times.
What else it waits for in silence comes once a second at most, and a statement's limit is one of seconds.
"""

ARRAYS: Final = "numpy"
"""What the engine's package loads where it finds it, for programs that ask it in their own process: none does here.

Without it a start takes three tenths less of the processor, and 11 MB less of memory.
"""

NO_MEMORY: Final = "graal_create_isolate failed"
"""What the engine says when it finds no room in the address space: its files were not looked at yet."""

_PR_SET_PDEATHSIG: Final = 1
"""From linux/prctl.h."""

_PR_SET_TIMERSLACK: Final = 29
"""From linux/prctl.h."""

_READ: Final = ["readRecord"]
_WRITE: Final = ["createRecord", "readRecord", "updateRecord", "deleteRecord"]

# A failing statement is logged with its text by the Bolt listener at WARNING: its own is nobody's business.
_LOGGING: Final = f"""\
handlers = java.util.logging.FileHandler
.level = WARNING
com.arcadedb.level = WARNING
com.arcadedb.bolt.level = SEVERE
com.arcadedb.query.level = SEVERE
io.micrometer.level = SEVERE
java.util.logging.FileHandler.formatter = com.arcadedb.log.LogFormatter
java.util.logging.FileHandler.limit = {LOG_BYTES}
java.util.logging.FileHandler.count = 2
java.util.logging.FileHandler.append = true
java.util.logging.FileHandler.pattern = log/store.log
"""


class Options(Struct, frozen=True):
    """How a store is to be served."""

    bolt_port: int
    """0 for any free one."""
    heap_megabytes: int
    statement_seconds: float
    as_it_is: bool
    """Whether the files are opened without a look at whether they are what they were."""


class Settings(Options, frozen=True):
    """What the parent decides."""

    folder: str
    reader_password: str
    writer_password: str
    root_password: str
    parent: int
    """Process id; another parent means that it died before we could ask to die with it."""


def port_taken(port: int, reason: str | None) -> Unstartable:
    """Return what it means that somebody else has the port; the folder is as it was."""
    return Unstartable(
        f"port {port} of 127.0.0.1 cannot be used by the memory's own store ({reason}): "
        "set another one with [memory] bolt_port, or 0 for any free one"
    )


def main() -> None:
    """Serve until standard input ends."""
    settings = Settings(**json.loads(sys.stdin.readline()))
    answer = _keep_standard_output_for_ourselves()
    _live_and_die_with(settings.parent)
    _let_timers_come_together()
    folder = Path(settings.folder)
    try:
        enter(folder)
        known = look(folder, as_it_is=settings.as_it_is)
        with held(settings.bolt_port) as bolt, held(0) as http:
            stop = _serve(settings, bolt, http)
    except Unstartable as error:
        told = {"error": str(error), "damaged": error.is_damaged, "may_open": error.may_open}
        os.write(answer, _line(told))
        os._exit(1)
    os.write(answer, _line({"bolt": bolt, "http": http}))
    sys.stdin.read()
    stop()
    with suppress(OSError):  # where the disk refuses the checksums, the next start takes the files as they are
        checksums.write(folder, known)
    os._exit(0)  # the engine leaves threads behind that would keep an ordinary exit waiting


def groups() -> dict[str, object]:
    """Return the engine's group file: one group reads, one writes, nobody else may do anything."""
    return {
        "databases": {
            "*": {
                "groups": {
                    "admin": _group(_WRITE, "updateSecurity", "updateSchema", "updateDatabaseSettings"),
                    "*": _group([]),
                }
            },
            DATABASE: {"groups": {READER: _group(_READ), WRITER: _group(_WRITE, "updateSchema"), "*": _group([])}},
        },
        "version": 2,
    }


def _group(records: list[str], *database: str) -> dict[str, object]:
    return {"access": list(database), "resultSetLimit": -1, "readTimeout": -1, "types": {"*": {"access": records}}}


def _serve(settings: Settings, bolt: int, http: int) -> Callable[[], object]:
    """Start the engine; return what closes the databases and stops listening."""
    folder = Path(settings.folder)
    arguments = (
        f"-Xmx{settings.heap_megabytes}m",
        f"-Darcadedb.command.timeout={int(settings.statement_seconds * 1000)}",
        "-Darcadedb.opencypher.loadCsv.allowFileUrls=false",
        "-Darcadedb.opencypher.loadCsv.allowRemoteUrls=false",
        "-Darcadedb.support.autoRegister=false",
        f"-Darcadedb.bucketDefaultPageSize={PAGE_SIZE}",
        f"-Darcadedb.server.saltIterations={SALT_ITERATIONS}",
        # Relative, because these arguments are split at spaces and the folder's name may hold some.
        "-Djava.util.logging.config.file=log/logging-store.properties",
        *vector_arithmetic(),
    )
    os.environ["ARCADEDB_NATIVE_ISOLATE_ARGS"] = " ".join(arguments)
    os.environ["ARCADEDB_LOG_DIR"] = str(folder / "log")
    sys.modules[ARRAYS] = None  # type: ignore[assignment]  # so that the import of it fails, as the language documents
    try:
        import arcadedb
    except ImportError as error:
        raise Unstartable(
            f"the memory's own store is not installed ({error}): run scripts/setup, "
            "or name a Neo4j server with [memory] uri"
        ) from error
    _begin(folder)
    try:
        server = arcadedb.ArcadeDBServer(settings.folder, settings.root_password, _configuration(settings, bolt, http))
        server.start()
        # The key of the same name in the configuration has no effect; without this a commit is not fsynced.
        server.get_database(DATABASE).set_wal_flush("yes_full")
    except (arcadedb.ArcadeDBError, OSError) as error:
        reason = " ".join(str(error).split())
        if "Unable to listen" in reason:  # somebody who was bound to it before, as `held` is
            raise port_taken(http if "HTTP port" in reason else bolt, "somebody else listens on it") from error
        if NO_MEMORY in reason:
            raise Unstartable(
                f"there is not enough memory to start the memory's own store ({reason}): "
                "end other programs, or raise the limit (MemoryMax= of a unit, ulimit -v)"
            ) from error
        raise Damaged(
            f"the memory's own store in {folder} does not open ({reason}): `nakari doctor` says "
            "more; the folder can be restored from a backup, or name a Neo4j server with [memory] uri"
        ) from error
    return cast("Callable[[], object]", server.stop)


def vector_arithmetic() -> list[str]:
    """Have vectors compared by the package's library for that, where it loads; the engine would not look for it.

    An index over 2,000 vectors is built in a fifth of the time.
    """
    found = importlib.util.find_spec("arcadedb")
    folders = (found.submodule_search_locations if found else None) or []
    try:
        for library in (library for folder in folders for library in Path(folder).glob("_native/libjvector-*.so")):
            ctypes.CDLL(str(library))
            return ["-Djvector.vectorization_provider=native"]
    except OSError:
        return []
    return []


def _configuration(settings: Settings, bolt: int, http: int) -> dict[str, object]:
    users = f"{READER}:{settings.reader_password}:{READER},{WRITER}:{settings.writer_password}:{WRITER}"
    return {
        "host": "127.0.0.1",
        "http_port": http,
        # production mode would conceal the texts of errors
        "mode": "development",
        "server_plugins": "Bolt:com.arcadedb.bolt.BoltProtocolPlugin",
        "bolt_host": "127.0.0.1",
        "bolt_port": bolt,
        "server.defaultDatabases": f"{DATABASE}[{users}]",
    }


def _begin(folder: Path) -> None:
    """Remove the checksums, forget the users of the last start, and write what the engine reads at this one."""
    with writable(folder):
        checksums.remove(folder)
        undeclare(folder)
        for foreign in [*(folder / "databases").rglob("._*")]:
            # What macOS puts beside each file of a copy: the engine takes it for the file itself, and does not open.
            foreign.rename(folder / foreign.name)
        (folder / "config" / "server-users.jsonl").unlink(missing_ok=True)
        (folder / "config" / "server-groups.json").write_text(json.dumps(groups()), encoding="utf-8")
        (folder / "log" / "logging-store.properties").write_text(_LOGGING, encoding="iso-8859-1")
        for old in filter(Path.is_file, (folder / "log").glob("server-event-log-*.jsonl")):
            old.unlink()


@contextmanager
def held(wanted: int) -> Iterator[int]:
    """Keep a port of 127.0.0.1 for a server of this process, the wanted one if it is not 0. Raises `Unstartable`.

    While it is bound here nobody else is given it, and whoever sets SO_REUSEADDR can listen on it all the same (Linux;
    Java sets it): found free and let go of, it was another process's by the time that the engine wanted it.
    """
    with ExitStack() as held_until:
        tries = [wanted] if wanted else random.SystemRandom().sample(OWN_PORTS, 20)
        for port in tries:
            holder = held_until.enter_context(socket.socket())
            # Before the call for a port that is asked for: connections of the start before may be in TIME_WAIT.
            holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, port == wanted)
            try:
                holder.bind(("127.0.0.1", port))
            except OSError as error:
                refused = error.strerror
                continue
            holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            yield port
            return
        raise port_taken(port, refused)


def _live_and_die_with(parent: int) -> None:
    """Be ended by the parent alone, and surely by its death.

    systemd's SIGTERM reaches the whole unit, and Ctrl-C the children of a shell; the parent still wants to write after
    them.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    allowed = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))


def _let_timers_come_together() -> None:
    """Let the kernel put timers off a little; each thread has it from the one that started it, so before there are any.

    Nothing that is woken by another thread or by a connection waits for it. A kernel that refuses wakes more often.
    """
    ctypes.CDLL(None).prctl(_PR_SET_TIMERSLACK, ctypes.c_ulong(round(TIMER_SLACK * 1e9)), 0, 0, 0)


def _keep_standard_output_for_ourselves() -> int:
    """Return a descriptor for our one line; what the engine prints goes to standard error."""
    answer = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return answer


def _line(answer: dict[str, object]) -> bytes:
    return json.dumps(answer).encode() + b"\n"


if __name__ == "__main__":
    main()
