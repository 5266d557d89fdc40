"""A forked `nakari` for who waits for it in an event loop, as `asyncio.subprocess.Process` is of a program."""

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Self

from tests.warm import Fork


class _Output(asyncio.StreamReaderProtocol):
    """What it writes to one stream, and whether that has ended."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        super().__init__(reader)
        self.over = asyncio.Event()

    def connection_lost(self, error: Exception | None) -> None:
        """Take note that nothing more comes."""
        super().connection_lost(error)
        self.over.set()


class Pipe:
    """One of its streams, read here."""

    def __init__(self, transport: asyncio.BaseTransport, reader: asyncio.StreamReader, output: _Output) -> None:
        self._transport, self.reader, self._output = transport, reader, output

    @classmethod
    async def of(cls, file: IO[bytes]) -> Self:
        """Read from a file, which is closed at its end."""
        loop, reader = asyncio.get_running_loop(), asyncio.StreamReader()
        transport, output = await loop.connect_read_pipe(lambda: _Output(reader), file)
        return cls(transport, reader, output)

    def close(self) -> None:
        """Leave: what is still written finds no reader."""
        self._transport.close()

    async def over(self) -> None:
        """Wait for its end."""
        await self._output.over.wait()


class WarmStarted:
    """A fork whose output is read in the event loop."""

    def __init__(self, fork: Fork, out: Pipe, err: Pipe) -> None:
        self._fork, self.out, self.err = fork, out, err
        self.pid = fork.pid

    @classmethod
    async def start(cls, arguments: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Self:
        """Start it in a folder, with nothing to read."""
        (out, to_out), (err, to_err) = os.pipe(), os.pipe()
        fork = Fork(arguments, folder, environment, (os.open(os.devnull, os.O_RDONLY), to_out, to_err))
        return cls(fork, await Pipe.of(os.fdopen(out, "rb")), await Pipe.of(os.fdopen(err, "rb")))

    @property
    def stdout(self) -> asyncio.StreamReader:
        """What it writes."""
        return self.out.reader

    @property
    def stderr(self) -> asyncio.StreamReader:
        """What it complains about."""
        return self.err.reader

    @property
    def returncode(self) -> int | None:
        """Its exit code, or the signal as a negative number; None where nobody has waited for its end."""
        return self._fork.code

    async def wait(self) -> int:
        """Wait for its end, and for that of its streams; return the code."""
        if self._fork.code is None:
            loop, ended = asyncio.get_running_loop(), asyncio.Event()
            loop.add_reader(self._fork.status, ended.set)
            try:
                await ended.wait()
            finally:
                loop.remove_reader(self._fork.status)
            self._fork.wait()
        await asyncio.gather(self.out.over(), self.err.over())
        return self._fork.wait()

    async def communicate(self) -> tuple[bytes, bytes]:
        """Wait for its end; return what it wrote to both streams."""
        out, err = await asyncio.gather(self.stdout.read(), self.stderr.read())
        await self.wait()
        return out, err

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it is known to have ended."""
        if self._fork.code is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """Send it SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Send it SIGKILL."""
        self.send_signal(signal.SIGKILL)
