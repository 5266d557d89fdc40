"""Measures the ears on a folder of clips: `scripts/bench ears FOLDER`."""

import argparse
import importlib
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, cast, get_args

import structlog

from audio.errors import ModelNotFound
from benchmarks.ears.bench import Measurement, open_bench
from benchmarks.ears.listening import Ears
from benchmarks.ears.material.corpus import Split
from benchmarks.ears.recognizers import ABOUT, RecognizerName

MEASUREMENTS: Final = (
    "refusals",
    "inventions",
    "false_reflexes",
    "turns",
    "cut_offs",
    "reflexes",
    "stops",
    "words",
    "duplex",
    "names",
)
"""The modules of this folder that are `Measurement`s; their names differ from those of all other benchmarks."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what is named, else all; the split and the recognizer stand beside every figure."""
    parser = argparse.ArgumentParser(prog="scripts/bench ears", description="Measure the ears on a folder of clips.")
    parser.add_argument("folder", type=Path, help="clips.tsv or transcripts.tsv and sound files, or sound files alone")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of: {', '.join(MEASUREMENTS)}")
    parser.add_argument("--split", choices=get_args(Split), default="report", help="which part of the clips")
    parser.add_argument("--recognizer", choices=get_args(RecognizerName), default="oracle")
    parser.add_argument("--model", type=Path, help="of --recognizer whisper: the folder of a faster-whisper model")
    parser.add_argument("--sample", type=int, default=0, help="so many clips of a kind; all without")
    parser.add_argument("--seed", type=int, default=0)
    wanted = parser.parse_intermixed_args(arguments)
    if unknown := set(wanted.names) - set(MEASUREMENTS):
        parser.error(f"no such measurement: {', '.join(sorted(unknown))}")
    if (wanted.recognizer == "whisper") != (wanted.model is not None):
        parser.error("--recognizer whisper needs --model FOLDER, and no other one takes it")
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    try:
        bench = open_bench(
            wanted.folder, Ears(wanted.recognizer, wanted.model), wanted.split, wanted.seed, wanted.sample
        )
    except FileNotFoundError as error:
        sys.exit(f"nakari: {error}; give a folder with clips")
    except ModelNotFound as error:
        sys.exit(f"nakari: {error}")
    counted = ", ".join(
        f"{len(bench.sampled(clips))} of {len(clips)} {what}"
        for what, clips in (("speech clips", bench.speech), ("noises", bench.noises))
    )
    print(f"{wanted.folder}: split {bench.split}, {counted}, seed {bench.seed}; {ABOUT[wanted.recognizer]}")
    for name in wanted.names or MEASUREMENTS:
        measurement = cast("Measurement", importlib.import_module(f"benchmarks.ears.{name}"))
        print(f"\n{name} ({measurement.ABOUT}; split {bench.split}, recognizer {wanted.recognizer})", flush=True)
        print("\n".join(f"  {line}" for line in measurement.results(bench)), flush=True)


if __name__ == "__main__":
    main()
