"""A process that runs the embedded store and waits to be killed: `python -m tests.memory.embedded_parent FOLDER`."""

import asyncio
import sys
from pathlib import Path

from memory.graph.embedded.store import EmbeddedStore
from memory.graph.graph import Graph


async def main(folder: Path) -> None:
    """Start the store, write something, say the child's pid, wait for ever."""
    async with EmbeddedStore(folder) as store:
        graph = Graph(store)
        await graph.write("CREATE (:A {x: 1})")
        sys.stdout.write(f"child {store.pid}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
