"""When a turn is over: our two steps and the rules of pipecat, livekit and Home Assistant on the same human clips."""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
from msgspec import Struct

from audio.interfaces import VoiceDetector
from audio.speech import RecognizedTurn, SpeechStarted
from audio.turns.endpointer import Endpointer
from audio.turns.listener import Listener
from audio.turns.vad import load_detector
from benchmarks.figure import Figure, milliseconds, run, short
from benchmarks.processes import ROOT
from benchmarks.sound import write_wav
from tests.audio.ears_fakes import Intake
from tests.audio.pauses import (
    PAUSES,
    Aligner,
    Knowing,
    Piece,
    PieceSource,
    as_spoken,
    broken_off,
    hesitating,
    human_clips,
    one_after_the_other,
    orders,
)

SHOWS = ("V7",)

PEERS: Final = Path(tempfile.gettempdir()) / "nakari-peers"
"""A virtual environment with the peers."""

INSTALL: Final = (
    f"uv venv {PEERS} && uv pip install --python {PEERS}/bin/python pipecat-ai livekit-plugins-silero && "
    f"uv pip install --no-deps --target {PEERS}/home-assistant --python-version 3.14 homeassistant"
)

OURS: Final = "nakari"


class Corpus(Struct, frozen=True):
    """What is said."""

    whole: list[Piece]
    """As it was spoken, with its own pauses."""
    hesitating: list[Piece]
    """A pause put in where nobody has finished."""
    broken_off: list[Piece]
    """A pause put in inside a phrase, where the words could be all."""
    sentences: list[Piece]
    """Two whole sentences with a pause between them."""

    @property
    def all(self) -> list[Piece]:
        """Every piece, in that order."""
        return [*self.whole, *self.hesitating, *self.broken_off, *self.sentences]


def corpus(*, quick: bool = False) -> Corpus:
    """Return all there is here; a few pieces when quick."""
    aligner, clips = Aligner(), human_clips()[: 3 if quick else None]
    words = {clip.name: aligner.words(clip) for clip in clips}
    whole = [as_spoken(clip, words[clip.name]) for clip in clips]
    pauses = [piece for clip in clips for piece in hesitating(clip, words[clip.name])]
    phrases = [piece for clip in clips for piece in broken_off(clip, words[clip.name])]
    pairs = [one_after_the_other(a, b, pause) for a, b in pairwise(whole) for pause in PAUSES]
    whole += [as_spoken(order) for order in orders()[: 0 if quick else None]]
    if quick:
        return Corpus(whole[:2], pauses[:2], phrases[:2], pairs[:1])
    return Corpus(whole, pauses, phrases, pairs)


class Ends:
    """A `TurnObserver` that keeps when turns were committed."""

    def __init__(self) -> None:
        self.at: list[float] = []

    def speech_started(self, started: SpeechStarted) -> None:
        """Nothing ends here."""

    def words_so_far(self, heard: RecognizedTurn) -> None:
        """Nothing ends here."""

    def turn_ended(self, heard: RecognizedTurn | None, suppressed: str) -> None:
        """Keep the moment."""
        if heard is not None:
            self.at.append(heard.utterance.committed_at)


async def ends_of_ours(piece: Piece, detector: VoiceDetector) -> list[float]:
    """Return when our ears committed turns: seconds in the piece; the words are there as soon as they are asked for."""
    listener = Listener(PieceSource(piece), detector, Endpointer(), Knowing(piece), Intake())
    ends = Ends()
    listener.observe(ends)
    async with asyncio.TaskGroup() as group:
        group.create_task(listener.listen(), name="ears: chunks to utterances")
        group.create_task(listener.recognize(), name="ears: utterances to transcripts")
    return ends.at


def ends_of_peers(pieces: Sequence[Piece]) -> dict[str, list[list[float]]]:
    """Return when each peer ended turns, by its name, in the order of the pieces; nothing where none is installed."""
    python = PEERS / "bin" / "python"
    if not python.exists():
        return {}
    with tempfile.TemporaryDirectory(prefix="nakari-bench-") as folder:
        files = [write_wav(Path(folder) / f"{n:04}.wav", piece.samples) for n, piece in enumerate(pieces)]
        command = [python, ROOT / "benchmarks" / "floors" / "endpointers.py", *files]
        quiet = {"PATH": os.environ.get("PATH", ""), "LOGURU_LEVEL": "ERROR"}
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=quiet, check=False)
    if done.returncode:
        sys.exit(f"the peers in {PEERS} do not run; remove it, and install them anew: {INSTALL}")
    found: dict[str, list[list[float]]] = json.loads(done.stdout.splitlines()[-1])
    return found


class Judged(Struct, frozen=True):
    """How often a rule cut somebody off, and how long it let him wait."""

    delays: list[float]
    """Seconds from the end of speech to the end of the turn, where there was one."""
    cut: int
    """Pieces in which a turn was ended before the end of speech."""
    of: int

    @property
    def rate(self) -> float:
        """Of the pieces, those that were cut."""
        return self.cut / max(1, self.of)

    def __str__(self) -> str:
        p50, p95 = np.percentile(self.delays, [50, 95]) if self.delays else (np.nan, np.nan)
        return f"{self.rate:.1%} cut ({self.cut} of {self.of}), delay p50 {p50:.2f} s, p95 {p95:.2f} s"


def judge(pieces: Sequence[Piece], ends: Iterable[Sequence[float]]) -> Judged:
    """Hold the ends of turns against where speech ends; a chunk's difference is none."""
    delays, cut = [], 0
    for piece, at in zip(pieces, ends, strict=True):
        cut += any(end < piece.speech_ends - 0.05 for end in at)
        delays += (
            [min(end for end in at if end >= piece.speech_ends - 0.05) - piece.speech_ends]
            if any(end >= piece.speech_ends - 0.05 for end in at)
            else []
        )
    return Judged(delays, cut, len(pieces))


def by_kind(found: Corpus, ends: Sequence[Sequence[float]]) -> tuple[Judged, Judged, Judged, Judged]:
    """Return the verdicts for clips as spoken, for both kinds of hesitations, and for pauses between sentences."""
    verdicts, rest = [], list(ends)
    for pieces in (found.whole, found.hesitating, found.broken_off, found.sentences):
        verdicts.append(judge(pieces, rest[: len(pieces)]))
        rest = rest[len(pieces) :]
    return tuple(verdicts)  # type: ignore[return-value]


async def all_ends_of_ours(pieces: Sequence[Piece]) -> list[list[float]]:
    """Return for each piece the moments at which the endpointer ended a turn, in seconds."""
    detector = load_detector()
    return [await ends_of_ours(piece, detector) for piece in pieces]


def measure(*, quick: bool = False) -> Figure:
    """Run all rules over all pieces; the figure compares the delay with livekit's, the notes tell the cut-offs."""
    found = corpus(quick=quick)
    rules = {OURS: asyncio.run(all_ends_of_ours(found.all)), **ends_of_peers(found.all)}
    verdicts = {name: by_kind(found, ends) for name, ends in rules.items()}
    notes = [f"the peers were not measured; to measure them: {INSTALL}"] if len(rules) == 1 else []
    for name, (whole, hesitation, phrase, sentences) in verdicts.items():
        cut = Judged([], whole.cut + hesitation.cut, whole.of + hesitation.of)
        notes += [
            f"{name}: cut-off rate {short(cut.rate * 100)} % ({cut.cut} of {cut.of})",
            f"{name}, human clips as spoken: {whole}",
            f"{name}, hesitations of {PAUSES[0]} to {PAUSES[-1]} s: {hesitation}",
            f"{name}, the same pauses inside phrases: {phrase}",
            f"{name}, a pause between whole sentences (two turns are right as well): {sentences}",
        ]
    notes.append("words are there as soon as asked for, known for all but the orders: a recognizer adds its own time")
    ours, against = verdicts[OURS][0].delays, verdicts.get("livekit", verdicts[OURS])[0].delays
    names = "livekit's default rule" if "livekit" in verdicts else "itself: no peer is installed here"
    return Figure(
        "End of speech to end of turn",
        milliseconds("nakari, human clips as spoken", ours),
        milliseconds(names, against),
        tuple(notes),
    )


if __name__ == "__main__":
    run(measure)
