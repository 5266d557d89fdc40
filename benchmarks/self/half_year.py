"""Half a year of a made-up household, lived through the whole box by a simple-minded agent: what it knows of it then.

`python -m benchmarks.self.half_year [--weeks N] [--seed N]` takes some five minutes for 26 weeks.
"""

import argparse
import logging
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, date
from pathlib import Path
from typing import Final

import structlog
from msgspec.structs import replace

from agent.model.interface import CachedPrefix, ChatModel
from appliance.bench.generator import Examination, Generator, Life
from appliance.bench.rehearsal import Lived, rehearse
from appliance.bench.report import closing, rows, wrong
from appliance.config.load import Config, load
from appliance.model.catalog import ModelCatalog
from appliance.wiring.environment import REAL, Environment
from benchmarks.self.model import SimpleModel

WEEKS: Final = 26
BEGINS: Final = date(2026, 3, 2)

SETTINGS: Final = """
[mind]
timezone = "UTC"
[memory]
embeddings = "off"
"""
"""Nothing of it leaves the machine: the agent is a function of this process, and nothing is compared by meaning."""


async def _models(catalog: ModelCatalog, room: CachedPrefix) -> Sequence[ChatModel]:
    return [SimpleModel()]


SIMPLE: Final[Environment] = replace(REAL, models=_models)
"""What is real, with the simple-minded agent as its model."""


def life_of(seed: int, weeks: int = WEEKS) -> Life:
    """Return a household's life."""
    return Generator(seed, weeks, BEGINS, UTC).life(Examination())


def config_in(folder: Path, settings: str = SETTINGS) -> Config:
    """Return a configuration of nobody's, whose file is in a folder."""
    file = folder / "nakari.toml"
    file.write_text(settings, encoding="utf-8")
    return load(file, {"HOME": str(folder), "PATH": "/usr/bin:/bin"})


@contextmanager
def _somewhere() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="half-year-") as folder:
        yield Path(folder)


def main(arguments: Sequence[str] | None = None) -> None:
    """Live it and print what came of it."""
    parser = argparse.ArgumentParser(prog="scripts/bench self", description=__doc__)
    parser.add_argument("--weeks", type=int, default=WEEKS)
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args(arguments)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    life, lived = life_of(wanted.seed, wanted.weeks), Lived()
    began = time.monotonic()
    with _somewhere() as folder:
        rehearse(config_in(folder), life, lived, lambda done, of: None, SIMPLE)
    print(f"{wanted.weeks} weeks, seed {wanted.seed}: {len(life.said)} sentences, {len(life.probes)} of them questions")
    for meaning, right, share in rows(lived):
        print(f"{meaning:<40} {right:>10} {share:>6}")
    for line in (*closing(lived), *(" | ".join(each) for each in wrong(lived))):
        print(line)
    print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
