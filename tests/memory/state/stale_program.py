"""A machine that leads and writes each line that it is told; for `test_replicated_faults`: `URL household folder`."""

import asyncio
import sys
from pathlib import Path

from memory.engine.access import Login, engine_at
from memory.errors import StateUnusable
from memory.state.replicated import ReplicatedDatabase
from tests.memory.state.notes import NOTES, note


async def main(url: str, household: str, folder: str) -> None:
    """Lead in epoch 1; answer each line by what became of it."""
    engine = engine_at(url, household, Login())
    await engine.open()
    database = ReplicatedDatabase(Path(folder) / "nakari.db", engine, household=household, machine="stale")
    await database.open(NOTES)
    await database.lead(1)
    say("leads")
    while line := await asyncio.to_thread(sys.stdin.readline):
        try:
            await database.write(note(line.strip()))
            say("written")
        except StateUnusable as error:
            say(f"{type(error).__name__}: {error}")
    await database.close()
    await engine.close()


def say(words: str) -> None:
    """Answer with a line."""
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
