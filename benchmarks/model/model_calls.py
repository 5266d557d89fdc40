"""What a spoken question costs: calls of the model."""

import asyncio
import tempfile
from pathlib import Path

from appliance.config.load import load
from appliance.config.options import RunOptions
from appliance.service import conversation_over, serve
from appliance.wiring.box import open_box
from benchmarks.figure import Figure, Series, run
from benchmarks.model_server import ANSWER
from tests.agent.openai_server import OpenAiServer, reply
from tests.service.process import Household, speak

QUESTIONS = ("What time is it?", "Turn on the kitchen light.", "Good morning.")


def measure(*, quick: bool = False) -> Figure:
    """Ask each question aloud and count what the server was asked."""
    calls = [asyncio.run(_calls(question)) for question in QUESTIONS[: 1 if quick else None]]
    ours = Series("nakari run, one question said, heard and answered", "calls", tuple(calls))
    least = Series("the least there can be", "calls", (1.0,))
    return Figure("Model calls for a spoken question", ours, least)


async def _calls(question: str) -> float:
    """Return how many requests the server got."""
    with tempfile.TemporaryDirectory(prefix="nakari-bench-") as name:
        folder = Path(name)
        async with OpenAiServer() as server:
            server.default = lambda _: reply(ANSWER)
            home = Household(folder, {"model": {"provider": "openai", "base_url": server.url, "name": "m"}})
            sound = await asyncio.to_thread(speak, question, folder / "question.wav")
            config = load(home.write(), {"HOME": str(folder)})
            async with open_box(config, RunOptions(input=sound, output=folder / "a.wav", fast=True)) as box:
                await serve(box, lambda: conversation_over(box))
            return float(len(server.requests))


if __name__ == "__main__":
    run(measure)
