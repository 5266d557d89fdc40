"""One event of a sentence that two rooms hear, and two of two sentences: human clips, two simulated microphones."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import permutations
from typing import Final, TypeAlias

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from agent.intents.language.grammar import command_grammar
from appliance.rooms.arbitration import SAME_WORDS, Hearing, is_same, is_same_time, likeness, merit_of
from audio.interfaces import Recognizer
from audio.pcm import SAMPLE_RATE, Samples
from audio.recognizer.pocketsphinx import PocketsphinxRecognizer
from audio.speech import RecognizedTurn
from audio.turns.endpointer import Endpointer
from audio.turns.listener import Listener
from audio.turns.vad import load_detector
from benchmarks.ears.material.corpus import Split, split_of
from benchmarks.figure import Figure, Series, run
from tests.audio.ears_fakes import Intake
from tests.audio.pauses import PieceSource, as_spoken, human_clips, orders
from tests.audio.spoken import Clip
from tests.room.acoustics import at_level, from_samples, impulse_response

SHOWS = ("V28",)

Pair: TypeAlias = tuple[Hearing, Hearing]
"""What was heard beside somebody, and elsewhere."""

BEFORE, AFTER = 0.6, 1.6
"""Seconds of noise around a clip."""

LONGEST: Final = 5.2
"""Seconds of a clip: pocketsphinx takes long for free speech."""


class Microphone(Struct, frozen=True):
    """How somebody sounds in a room."""

    dbfs: float
    noise_dbfs: float
    decay_seconds: float
    tail_db: float
    late: float = 0.0
    """Seconds: a device's chunks, and its network."""

    def hears(self, samples: Samples, seed: int) -> Samples:
        """Return what it hears of somebody: int16, 16 kHz."""
        response = impulse_response(self.decay_seconds, seed, self.tail_db)
        spoken = at_level(np.convolve(from_samples(samples), response).astype(np.float32), self.dbfs)
        before = round((BEFORE + self.late) * SAMPLE_RATE)
        whole = np.zeros(before + len(spoken) + round(AFTER * SAMPLE_RATE), np.float32)
        whole[before : before + len(spoken)] = spoken
        noise = np.random.default_rng(seed).normal(size=len(whole)) * 10 ** (self.noise_dbfs / 20)
        return np.asarray(np.clip((whole + noise) * 32768, -32768, 32767), np.int16)


NEAR: Final = Microphone(-26.0, -62.0, 0.25, -6.0)
FAR: Final = (Microphone(-42.0, -60.0, 0.5, 2.0, late=0.1), Microphone(-36.0, -48.0, 0.8, 4.0, late=0.2))
"""Through a door, and along a hall with more gain and noise."""


async def turns_in(samples: Samples, recognizer: Recognizer) -> list[RecognizedTurn]:
    """Return what our ears make of a recording."""
    intake, piece = Intake(), replace(as_spoken(Clip("", "", samples)), samples=samples)
    listener = Listener(PieceSource(piece), load_detector(), Endpointer(), recognizer, intake)
    async with asyncio.TaskGroup() as group:
        group.create_task(listener.listen(), name="ears: chunks to utterances")
        group.create_task(listener.recognize(), name="ears: utterances to transcripts")
    return intake.heard


class Told(Struct, frozen=True):
    """What was heard of one clip."""

    split: Split
    near: list[Hearing]
    far: list[list[Hearing]]
    """By microphone."""

    @property
    def same(self) -> list[Pair]:
        """What both heard of the same sentence at the same time."""
        pairs = [
            (near, max(far, key=lambda each: _shared(near, each))) for far in self.far if far for near in self.near
        ]
        return [pair for pair in pairs if _shared(*pair) > 0]


async def heard(clips: Sequence[Clip]) -> list[Told]:
    """Have every clip said beside one microphone, and heard by the others."""
    recognizer, told = PocketsphinxRecognizer(command_grammar()), list[Told]()
    for clip in clips:
        seed = len(clip.samples)
        each = [
            await turns_in(where.hears(clip.samples, seed + at), recognizer) for at, where in enumerate((NEAR, *FAR))
        ]
        near, *far = [[Hearing.of(turn) for turn in turns] for turns in each]
        told.append(Told(split_of(clip.name), near, far))
    return told


def strangers(told: Sequence[Told]) -> list[Pair]:
    """Return turns of different clips, as if two people had begun at the same moment in two rooms."""
    found = []
    for mine, theirs in permutations(told, 2):
        for far in theirs.far:
            found += [(one, _moved(other, one.turn.utterance.started_at)) for one in mine.near for other in far]
    return found


def _shared(one: Hearing, other: Hearing) -> float:
    ours, theirs = one.turn.utterance, other.turn.utterance
    return min(ours.ended_at, theirs.ended_at) - max(ours.started_at, theirs.started_at)


def _moved(heard: Hearing, to: float) -> Hearing:
    said = heard.turn.utterance
    moved = replace(said, started_at=to, ended_at=said.ended_at + to - said.started_at)
    return replace(heard, turn=replace(heard.turn, utterance=moved))


def by_words(one: Hearing, other: Hearing) -> bool:
    """Say whether two rooms heard the same by time and words alone."""
    texts = (each.turn.transcript.text for each in (one, other))
    return is_same_time(one.turn, other.turn) and likeness(*texts) >= SAME_WORDS


def share(pairs: Sequence[Pair], is_one: Callable[[Hearing, Hearing], bool]) -> float:
    """Return how many of a hundred pairs count as one event."""
    return 100 * sum(is_one(*pair) for pair in pairs) / max(1, len(pairs))


def figure_of(told: Sequence[Told]) -> Figure:
    """Return what comes of it."""
    pairs, others = [pair for each in told for pair in each.same], strangers(told)
    by_split = ", ".join(
        f"{name} {share(mine, is_same):.0f} % of {len(mine)}"
        for name in ("fit", "choose", "report")
        if (mine := [pair for each in told if each.split == name for pair in each.same])
    )
    won = share(pairs, lambda near, far: merit_of(near.turn) > merit_of(far.turn))
    wrong = sum(is_same(*pair) for pair in others)
    return Figure(
        "One event of a sentence that two rooms hear (more is better)",
        Series("by words and sound", "%", (share(pairs, is_same),)),
        Series("all of them", "%", (100.0,)),
        (
            f"{len(told)} human clips, pocketsphinx, 13 to 18 dB above the noise elsewhere: {by_split}; "
            f"by words alone {share(pairs, by_words):.0f} %; "
            f"of {len(others)} pairs of other sentences begun at the same moment {wrong} are taken for one; "
            f"the nearer microphone is the better one in {won:.0f} %",
        ),
    )


def measure(*, quick: bool = False) -> Figure:
    """Have clips said, and count."""
    clips = [clip for clip in (*human_clips(), *orders()) if len(clip.samples) < LONGEST * SAMPLE_RATE]
    return figure_of(asyncio.run(heard(sorted(clips, key=lambda clip: len(clip.samples))[: 1 if quick else None])))


if __name__ == "__main__":
    run(measure)
