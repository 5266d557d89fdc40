"""What tests look at in a graph and in the processes behind it."""

import hashlib
import json
import os
import select
import socket
from pathlib import Path

import pytest

from memory.graph.cypher import quoted
from memory.graph.graph import Graph

SESSION = pytest.mark.asyncio(loop_scope="session")
"""For tests with the fixtures of graph_fixtures: the child and the connections live in the session's loop."""


async def empty(graph: Graph) -> None:
    """Delete every node, constraint and index."""
    await graph.write("MATCH (n) DETACH DELETE n")
    for constraint in (await graph.read("SHOW CONSTRAINTS")).records:
        if constraint["type"] != "NODE_PROPERTY_TYPE":
            await graph.write(f"DROP CONSTRAINT {quoted(str(constraint['name']))}")
    for index in (await graph.read("SHOW INDEXES")).records:
        if index["type"] != "LOOKUP":
            await graph.write(f"DROP INDEX {quoted(str(index['name']))}")


async def fingerprint(graph: Graph) -> str:
    """Return a hash of everything in the graph: nodes, relationships, indexes, constraints."""
    seen = [
        await graph.read(cypher)
        for cypher in (
            "MATCH (n) RETURN n ORDER BY elementId(n)",
            "MATCH ()-[r]->() RETURN r ORDER BY elementId(r)",
            "SHOW INDEXES YIELD name, type, labelsOrTypes, properties",
            "SHOW CONSTRAINTS",
        )
    ]
    assert not any(result.truncated for result in seen)
    return hashlib.sha256(json.dumps([result.records for result in seen], sort_keys=True).encode()).hexdigest()


def free_port() -> int:
    """Return a port of this machine that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class Process:
    """Another process, whose end can be waited for without being its parent."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._handle = os.pidfd_open(pid)

    def ends_within(self, seconds: float) -> bool:
        """Wait for its end, at most so long; say whether it came."""
        return bool(select.select([self._handle], [], [], seconds)[0])

    def of_it(self, name: str) -> str:
        """Return a file of its /proc folder."""
        return Path(f"/proc/{self.pid}/{name}").read_text(encoding="utf-8", errors="replace")

    def cpu_seconds(self) -> float:
        """Return the processor time it has used, which a busy machine does not lengthen."""
        fields = self.of_it("stat").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def listens_on(self) -> list[str]:
        """Return the addresses of its listening TCP sockets, as the kernel writes them: hexadecimal."""
        held = {str(link.readlink()) for link in Path(f"/proc/{self.pid}/fd").iterdir() if link.is_symlink()}
        rows = [row.split() for table in ("net/tcp", "net/tcp6") for row in self.of_it(table).splitlines()[1:]]
        return [row[1].rpartition(":")[0] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in held]
