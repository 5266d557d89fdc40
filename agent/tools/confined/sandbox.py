"""A sandbox for Python without network and files: a unit of systemd's where its socket is, else bubblewrap."""

import asyncio
import os
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from shutil import which
from typing import Final

from msgspec import Struct

from agent.errors import ToolFailed

SOCKET: Final = Path("/run/nakari-code/socket")
"""Of systemd/nakari-code.socket; each connection to it is a unit of its own."""

SECONDS: Final = 10.0
"""A piece of code may take; the unit gives a little more."""

MOST_OUTPUT: Final = 12_000
"""Bytes of what it prints; with more it is ended."""

PYTHON: Final = "/usr/bin/python3"
INNER: Final = f'{PYTHON} -I -; printf "\\0%d" $?'
"""What runs inside: the code comes on standard input, and behind all that it prints a NUL and its exit status."""

LIMITS: Final = "ulimit -v 524288; ulimit -t 10; ulimit -p 24; ulimit -f 65536; ulimit -n 256; ulimit -c 0; "
"""Memory in KiB and processor time in seconds of each process, processes, size of a file in blocks of 512 bytes."""

WORK: Final = "/work"
WORK_BYTES: Final = 33_554_432

_INSIDE: Final = {"PATH": "/usr/bin:/bin", "HOME": WORK, "TMPDIR": WORK, "LANG": "C.UTF-8"}
_SEEN: Final = ("/usr", "/bin", "/lib", "/lib64")
_NOBODY: Final = "65534"

BUBBLEWRAP: Final = (
    *("bwrap", "--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL"),
    *("--die-with-parent", "--new-session", "--clearenv"),
    *(word for place in _SEEN for word in ("--ro-bind-try", place, place)),
    *("--proc", "/proc", "--dev", "/dev", "--size", str(WORK_BYTES), "--tmpfs", WORK, "--chdir", WORK),
    *("--remount-ro", "/dev", "--remount-ro", "/"),
    *(word for name, value in _INSIDE.items() for word in ("--setenv", name, value)),
    *("/bin/sh", "-c", LIMITS + INNER),
)
"""Its own namespaces of everything, and no new ones inside; nothing can be written but into a small /work."""

NO_SANDBOX: Final = (
    "code cannot be run here: it needs systemd's nakari-code.socket (`sudo systemctl enable --now nakari-code.socket`) "
    "or bubblewrap (`sudo apt-get install bubblewrap`)"
)

_REFUSED: Final = b"bwrap: "
"""Begins what bubblewrap says when the kernel gives it no namespaces, as inside nakari.service."""


class Ran(Struct, frozen=True):
    """What became of a piece of code."""

    output: str
    """Standard output and error as they came."""
    status: int | None
    """Its exit status; None where it was ended before its end."""
    is_cut: bool = False
    """Whether it printed more than is kept, and was ended for that."""


class Sandbox(Struct, frozen=True):
    """Runs code; nothing of one piece is there for the next."""

    socket: Path = SOCKET
    seconds: float = SECONDS
    programs: str = _INSIDE["PATH"]
    """Where bubblewrap is looked for, as in $PATH."""

    @property
    def way(self) -> str:
        """By what code would be run: "systemd", "bubblewrap", or "" where there is neither."""
        return "systemd" if self.socket.exists() else "bubblewrap" if which("bwrap", path=self.programs) else ""

    async def run(self, code: str) -> Ran:
        """Run Python until its end, until it printed or took too much, or until this is cancelled.

        Raises `ToolFailed` where there is no sandbox.
        """
        if not self.way:
            raise ToolFailed(NO_SANDBOX)
        printed, is_cut = bytearray(), False
        async with self._opened() as (reader, writer):
            with suppress(TimeoutError, ConnectionError):
                async with asyncio.timeout(self.seconds):
                    writer.write(code.encode(errors="replace"))
                    writer.write_eof()
                    await writer.drain()
                    while piece := await reader.read(MOST_OUTPUT):
                        printed += piece
                        if is_cut := len(printed) > MOST_OUTPUT:
                            break
        if printed.startswith(_REFUSED) and b"\0" not in printed:
            raise ToolFailed(f"{NO_SANDBOX}; it says: {bytes(printed).decode(errors='replace').strip()[:200]}")
        return _ran(bytes(printed), is_cut=is_cut)

    @asynccontextmanager
    async def _opened(self) -> AsyncGenerator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        if self.way == "systemd":
            try:
                reader, writer = await asyncio.open_unix_connection(self.socket)
            except OSError as error:
                raise ToolFailed(f"{NO_SANDBOX}; {self.socket}: {(error.strerror or '').lower()}") from error
            try:
                yield reader, writer
            finally:
                writer.transport.abort()
            return
        process = await asyncio.create_subprocess_exec(
            *_unprivileged(BUBBLEWRAP), stdin=PIPE, stdout=PIPE, stderr=STDOUT, env={"PATH": self.programs}
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield process.stdout, process.stdin
        finally:
            with suppress(ProcessLookupError):
                process.kill()  # and with it the namespace of its processes, which the kernel ends
            while await process.stdout.read(MOST_OUTPUT):  # a process counts as there until its output is read
                pass
            await process.wait()


def _unprivileged(command: tuple[str, ...]) -> tuple[str, ...]:
    """Return the command as nobody's where this is root's: the kernel bounds no process of root's in number."""
    if os.geteuid() != 0:
        return command
    return ("setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups", *command)


def _ran(raw: bytes, *, is_cut: bool) -> Ran:
    printed, mark, status = raw.rpartition(b"\0")
    if is_cut or not mark or not status.isdigit():
        return Ran(raw[:MOST_OUTPUT].decode(errors="replace"), None, is_cut)
    return Ran(printed[:MOST_OUTPUT].decode(errors="replace"), int(status))
