"""The one interface of every store: the state database, the embedded graph store, a Neo4j server."""

from typing import Protocol, TypeVar

Ask_contra = TypeVar("Ask_contra", contravariant=True)
Found_co = TypeVar("Found_co", covariant=True)
Done_co = TypeVar("Done_co", covariant=True)


class Kept(Protocol[Ask_contra, Found_co, Done_co]):
    """A store, whatever is behind it: `Database` is asked in functions of a connection, `Graph` in statements.

    Guarantees: what `write` returned is on the disk, and there for the next process; a change is whole or not there,
    also one that was cancelled; changes at once come one after another; `read` changes nothing, whatever it is asked.
    While the store is away each ends with one sentence, and a store that is back is found by itself or opened again.
    """

    async def read(self, ask: Ask_contra, /) -> Found_co:
        """Return what is asked for. Raises `MemoryFailure` while it is away, and what would have changed something."""

    async def write(self, ask: Ask_contra, /) -> Done_co:
        """Change what is asked for; durable on return. Raises `MemoryFailure` when it is away, or refuses."""

    async def close(self) -> None:
        """Let go of it, everything written; safe to call twice."""
