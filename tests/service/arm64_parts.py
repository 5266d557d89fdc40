"""The native parts, each once: Silero, Whisper and the store of the graph; `tests.service.arm64` runs it elsewhere."""

import asyncio
import sys
import tempfile
from pathlib import Path

import numpy as np

from audio.pcm import CHUNK_SAMPLES
from audio.recognizer.faster_whisper import FasterWhisperRecognizer
from audio.turns.vad import load_silero
from memory.graph.embedded.store import EmbeddedStore
from memory.graph.graph import Graph
from tests.audio.spoken import HOUSEHOLD_WHISPER, said, silence, utterance

SENTENCE = "What time is it?"


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
    store = EmbeddedStore(folder / "graph")
    graph = Graph(store)
    async with store:
        await graph.write("CREATE (:Person {name: $name})", {"name": "Anna"})
    async with store:
        found = (await graph.read("MATCH (p:Person) RETURN p.name AS name")).records
    await graph.close()
    return found


def main() -> int:
    """Run each and compare."""
    with tempfile.TemporaryDirectory() as folder:
        heard = hear(Path(folder))
        found = asyncio.run(remember(Path(folder)))
    sys.stdout.write(f"heard: {heard}\nremembered: {found}\n")
    return 0 if heard == SENTENCE and found == [{"name": "Anna"}] else 1


if __name__ == "__main__":
    sys.exit(main())
