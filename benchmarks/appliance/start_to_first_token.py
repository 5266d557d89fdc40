"""From the start of the process to the first word of an answer, against litellm alone."""

import tempfile
from pathlib import Path

from benchmarks.figure import Figure, Series, run
from benchmarks.model_server import model_server
from benchmarks.processes import module, seconds_to_first_output
from tests.service.process import NAKARI, Household

SHOWS = ("F30",)

ADAPTERS = {"openai": "m", "litellm": "openai/m"}
"""`[model] provider`, and what each calls the server's model."""


def measure(*, quick: bool = False) -> Figure:
    """Start each in turn, with the same question to the same server, and wait for the first letter."""
    seconds: dict[str, list[float]] = {"openai": [], "litellm": [], "alone": []}
    adapters = {"openai": "m"} if quick else ADAPTERS
    private = {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    with tempfile.TemporaryDirectory(prefix="nakari-bench-") as name, model_server() as url:
        for number in range(1 if quick else 5):
            for adapter, model in adapters.items():
                served = {"provider": adapter, "base_url": url, "name": model, "api_key_env": "BENCH_KEY"}
                home = Household(
                    Path(name) / f"{adapter}{number}", {"model": dict(served), "memory": {"enabled": True}}
                )
                ask = [*NAKARI, "--config", str(home.write()), "ask", "What time is it?"]
                environment = {"HOME": str(home.folder), "BENCH_KEY": "-"}
                seconds[adapter].append(seconds_to_first_output(ask, environment))
            seconds["alone"].append(seconds_to_first_output(module("benchmarks.floors.litellm_alone", url), private))
    ours = Series("nakari ask, thin adapter: journal, mailbox and store included", "s", tuple(seconds["openai"]))
    alone = Series("a program that imports litellm and asks", "s", tuple(seconds["alone"]))
    notes = () if quick else (f"nakari ask through litellm: {Series('', 's', tuple(seconds['litellm']))}",)
    return Figure("Start to first token", ours, alone, notes)


if __name__ == "__main__":
    run(measure)
