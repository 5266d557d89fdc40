"""The appliance's heavy parts, loaded one after the other: names each, and waits for a line before the next."""

import asyncio
import sys
import tempfile
from pathlib import Path

VOCABULARY = "the token vocabulary, once a conversation is long"


async def main(recognizer: str, *more: str) -> None:
    """Load and name the parts; "all" comes last."""
    _named("Python")
    import numpy as np

    from memory.state import journal
    from memory.state.database import Database

    with tempfile.TemporaryDirectory(prefix="nakari-bench-") as folder:
        database = Database(Path(folder) / "nakari.db")
        await database.open(journal.SCHEMA)
        _named("numpy and the state database")
        from audio.pcm import CHUNK_SAMPLES
        from audio.turns.vad import load_detector

        load_detector().probability(np.zeros(CHUNK_SAMPLES, np.int16))
        _named("Silero")
        from audio.recognizer.faster_whisper import FasterWhisperRecognizer

        FasterWhisperRecognizer(Path(recognizer), "en").warm()
        _named("faster-whisper with the tests' small model")
        from memory.graph.connections import load_driver

        load_driver()
        _named("the graph's driver")
        if more:
            from agent.context.tokens import TokenCounter

            TokenCounter().load()
            _named(VOCABULARY)
            from agent.model.litellm import LiteLlmModel

            model = LiteLlmModel("openai/m", "-", "http://127.0.0.1:9")
            await model.warm()
            _named("litellm, where it is used")
            await model.aclose()
        await database.close()
    print("all", flush=True)


def _named(part: str) -> None:
    print(part, flush=True)
    sys.stdin.readline()


asyncio.run(main(*sys.argv[1:]))
