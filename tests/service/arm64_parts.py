"""The native parts, each once: Silero, Whisper and the store of the graph; `tests.service.arm64` runs it elsewhere.

usage: python -m tests.service.arm64_parts [hear] [remember]     both when none is named
"""

import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import numpy as np

from audio.pcm import CHUNK_SAMPLES
from audio.recognizer.faster_whisper import FasterWhisperRecognizer
from audio.turns.silero import load_silero
from memory.errors import GraphUnavailable
from memory.graph.embedded.store import EmbeddedStore
from memory.graph.graph import Graph
from memory.graph.results import Limits, Result
from tests.audio.spoken import HOUSEHOLD_WHISPER, said, silence, utterance

Answer = TypeVar("Answer", bound=Result)

SENTENCE = "What time is it?"
PATIENCE = 600.0
"""Seconds; what the store has on a real machine, emulation on a busy one does not keep to."""


def hear(folder: Path) -> str:
    """Return what Whisper makes of a sentence, in which Silero has found speech. Raises AssertionError."""
    samples = said(SENTENCE, "en-us", folder)
    detector = load_silero()
    whole = np.concatenate([silence(0.5), samples, silence(0.5)])
    chunks = whole[: len(whole) // CHUNK_SAMPLES * CHUNK_SAMPLES].reshape(-1, CHUNK_SAMPLES)
    assert max(detector.probability(chunk) for chunk in chunks) > 0.9, "Silero finds no speech"
    return FasterWhisperRecognizer(HOUSEHOLD_WHISPER, "en", threads=1).transcribe(utterance(samples)).text


async def remember(folder: Path) -> object:
    """Return what the store has of what was written before it was started again."""
    store = EmbeddedStore(folder / "graph", statement_seconds=PATIENCE, start_seconds=PATIENCE)
    graph = Graph(store, Limits(seconds=PATIENCE, begin_seconds=PATIENCE))
    async with store:
        await answered(lambda: graph.write("MERGE (:Person {name: $name})", {"name": "Anna"}))
    async with store:
        found = await answered(lambda: graph.read("MATCH (p:Person) RETURN p.name AS name"))
    await graph.close()
    return found.records


async def answered(ask: Callable[[], Awaitable[Answer]]) -> Answer:
    """Ask again while no connection comes about: the driver gives one two seconds, and emulation is slower."""
    async with asyncio.timeout(PATIENCE):
        while True:
            with suppress(GraphUnavailable):
                return await ask()


def main(parts: Sequence[str]) -> int:
    """Run each and compare."""
    is_right = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if "hear" in parts:
            heard = hear(folder)
            sys.stdout.write(f"heard: {heard}\n")
            is_right &= heard == SENTENCE
        if "remember" in parts:
            found = asyncio.run(remember(folder))
            sys.stdout.write(f"remembered: {found}\n")
            is_right &= found == [{"name": "Anna"}]
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ("hear", "remember")))
