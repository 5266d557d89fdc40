"""A real Neo4j of a benchmark's own, by scripts/neo4j: started, looked at, started again on what is there."""

import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

from benchmarks.processes import ROOT


class OwnServer:
    """A server in a folder, stopped at the end of `own_server`."""

    def __init__(self, home: Path) -> None:
        self._home = home
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            self._port = int(one.getsockname()[1])
        self._process: subprocess.Popen[str] | None = None

    @property
    def uri(self) -> str:
        """Where it serves."""
        return f"bolt://127.0.0.1:{self._port}"

    @property
    def pid(self) -> int:
        """Its process."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> float:
        """Start it, again if it runs; return the seconds until it says that it has started."""
        self.stop()
        began = perf_counter()
        command = [str(ROOT / "scripts/neo4j"), "run", str(self._home), str(self._port)]
        log = (self._home / "out").open("w", encoding="utf-8")
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if "Started." in line:
                return perf_counter() - began
        raise RuntimeError(f"Neo4j did not start: see {self._home}/out")

    def stop(self) -> None:
        """Stop it and wait for its end."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(60)


@contextmanager
def own_server(home: Path) -> Iterator[OwnServer]:
    """Run a server for the block."""
    home.mkdir()
    server = OwnServer(home)
    server.start()
    try:
        yield server
    finally:
        server.stop()
