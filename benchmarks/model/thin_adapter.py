"""What the thin adapter for OpenAI-compatible servers adds to the time until the first word."""

from agent.model.openai_compatible import OpenAiCompatibleModel
from benchmarks.figure import Figure, run
from benchmarks.model.first_token import compared


def measure(*, quick: bool = False) -> Figure:
    """Ask through the adapter and through plain httpx in turn."""
    name, what = "First token, thin adapter", "through `agent/model/openai_compatible.py`"
    return compared(name, what, lambda url: OpenAiCompatibleModel(url, "m"), quick=quick)


if __name__ == "__main__":
    run(measure)
