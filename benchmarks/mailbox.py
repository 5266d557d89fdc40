"""What it costs to lose nothing: an event put into the mailbox and taken out, each on the disk when it returns."""

import asyncio
import json
import os
import tempfile
from pathlib import Path
from time import perf_counter

from agent.event import Event
from agent.mailbox import SCHEMA, Mailbox
from benchmarks.figure import Figure, milliseconds, run
from memory.database import Database

WORDS = "What time is it, and will it rain before I come home this evening?"


def measure(*, quick: bool = False) -> Figure:
    """Put and take, and append the same bytes twice to a file with fdatasync, in turn."""
    return asyncio.run(_measure(20 if quick else 600))


async def _measure(count: int) -> Figure:
    with tempfile.TemporaryDirectory(prefix="nakari-bench-") as folder:
        database = Database(Path(folder) / "nakari.db")
        await database.open(SCHEMA)
        mailbox, puts, takes, floor = Mailbox(database), [], [], []
        log = os.open(Path(folder) / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            for _ in range(count):
                event = Event("user_text", WORDS)
                began = perf_counter()
                await mailbox.enqueue(event)
                put = perf_counter()
                await mailbox.take()
                taken = perf_counter()
                await mailbox.complete(event.id, "answered", {})
                puts.append(put - began)
                takes.append(taken - put)
                floor.append(_append(log) + _append(log))
        finally:
            os.close(log)
            await database.close()
    both = milliseconds("an event put and taken (two commits)", map(sum, zip(puts, takes, strict=True)))
    bare = milliseconds("the same bytes appended twice, each with fdatasync", floor)
    notes = (f"put {milliseconds('', puts)}, take {milliseconds('', takes)}",)
    return Figure("Durable put and take", both, bare, notes)


def _append(log: int) -> float:
    """Return the seconds it takes to put about what an event weighs onto the disk."""
    body = json.dumps({"words": WORDS, "rest": "-" * 300}).encode()
    began = perf_counter()
    os.write(log, body)
    os.fdatasync(log)
    return perf_counter() - began


if __name__ == "__main__":
    run(measure)
