"""What litellm and its adapter add to the time until the first word."""

from agent.model.litellm import LiteLlmModel
from benchmarks.figure import Figure, run
from benchmarks.model.first_token import compared


def measure(*, quick: bool = False) -> Figure:
    """Ask through the adapter and through plain httpx in turn."""
    name, what = "First token, litellm", "through litellm and `agent/model/litellm.py`"
    return compared(name, what, lambda url: LiteLlmModel("openai/m", "-", url), quick=quick)


if __name__ == "__main__":
    run(measure)
