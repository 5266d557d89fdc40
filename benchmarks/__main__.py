"""Measures every figure of docs/figures.md, each in a process of its own, and writes the page where that is wanted."""

import argparse
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from benchmarks.ears.__main__ import main as measure_ears
from benchmarks.figure import Figure
from benchmarks.fuzz.__main__ import main as feed_parsers
from benchmarks.home.__main__ import main as measure_home
from benchmarks.processes import ROOT, module
from benchmarks.recall.__main__ import main as measure_recall
from benchmarks.self.half_year import main as live_half_a_year
from benchmarks.table import conditions, front, page, write
from benchmarks.whole import main as try_the_whole

NAMES = (
    "speech_to_sound",
    "start_to_listening",
    "start_to_first_token",
    "help_page",
    "model_calls",
    "thin_adapter",
    "litellm_adapter",
    "turn_overhead",
    "context_building",
    "prefix_day",
    "small_window",
    "prompt_tokens",
    "tool_list",
    "short_utterances",
    "endpointing",
    "speaker_voice",
    "reflex_delay",
    "barge_in_delay",
    "idle_listening",
    "echo_cancellation",
    "idle_memory",
    "idle_writes",
    "ears_memory",
    "mailbox",
    "mailbox_elsewhere",
    "tool_files",
    "page_reading",
    "home_order",
    "home_entities",
    "remote_microphones",
    "satellite_to_sound",
    "four_satellites",
    "doors",
    "event_to_byte",
    "many_streams",
    "wyoming_door",
    "voice_beside_readers",
    "console_start",
    "turn_stages",
    "flight_recorder",
    "evidence_found",
    "recalled_block",
    "lookups",
    "voice_adapters",
    "two_rooms",
    "households",
    "takeovers",
    "across",
)
"""In the order of docs/figures.md."""

APART: Final[Mapping[str, Callable[[Sequence[str]], None]]] = {
    "ears": measure_ears,
    "fuzz": feed_parsers,
    "home": measure_home,
    "recall": measure_recall,
    "self": live_half_a_year,
    "whole": try_the_whole,
}
"""What is no figure, and has options of its own."""

FOLDER = ROOT / "benchmarks"
README = ROOT / "README.md"
FULL = ROOT / "docs" / "figures.md"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the figures that are named, else all; or do what stands apart."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given and (apart := APART.get(given[0])):
        apart(given[1:])
        return
    parser = argparse.ArgumentParser(prog="scripts/bench", description="Measure the figures of docs/figures.md.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of: {', '.join(NAMES)}")
    parser.add_argument("--quick", action="store_true", help="only see that they work; the numbers mean little")
    parser.add_argument(
        "--readme", action="store_true", help="measure all, write docs/figures.md and README's lines of it"
    )
    wanted = parser.parse_args(given)
    if unknown := set(wanted.names) - set(NAMES):
        parser.error(f"no such figure: {', '.join(sorted(unknown))}")
    if wanted.readme and (wanted.names or wanted.quick):
        parser.error("docs/figures.md takes every figure, measured in full")
    circumstances = conditions()
    print(circumstances, flush=True)
    figures = [_measured(name, quick=wanted.quick) for name in wanted.names or NAMES]
    if wanted.readme:
        write(README, front(dict(zip(NAMES, figures, strict=True)), circumstances))
        FULL.write_text(page(figures, circumstances), encoding="utf-8")


def module_of(name: str) -> str:
    """Return the module of a benchmark, whichever folder of this one it is in."""
    (file,) = FOLDER.rglob(f"{name}.py")
    return ".".join(file.relative_to(ROOT).with_suffix("").parts)


def _measured(name: str, *, quick: bool) -> Figure:
    """Measure one figure in a fresh process, so that none leaves warm caches or memory to the next; print it."""
    command = module(module_of(name), "--json", *(["--quick"] if quick else []))
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"{name} could not be measured: it ended with {done.returncode}")
    figure = Figure.from_json(done.stdout.splitlines()[-1])
    print(f"\n{figure}", flush=True)
    return figure


if __name__ == "__main__":
    main()
