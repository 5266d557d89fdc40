"""What somebody said at one go, as a recording: the speech in it, and its words as those of one turn."""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from msgspec.structs import replace

from audio.interfaces import VoiceDetector
from audio.pcm import CHUNK_SAMPLES, CHUNK_SECONDS, SAMPLE_RATE, AudioChunk, Samples, rms_dbfs
from audio.speech import RecognizedTurn, Utterance
from audio.turns.endpointer import COMMIT_SECONDS, Committed, Dropped, Endpointer, Signal, Started
from audio.turns.turn import Turn

IN_ONE_SECONDS: Final = 28.0
"""Up to so long it is one utterance, whatever pauses are in it; what is longer is cut at its pauses."""


def utterances_in(samples: Samples, detector: VoiceDetector, began: float) -> list[Utterance]:
    """Return the speech in a recording (int16, shape (n,), 16 kHz), in order; empty where nobody speaks. Blocking.

    `began` are the seconds on the clock of its first sample.
    """
    is_short = len(samples) / SAMPLE_RATE <= IN_ONE_SECONDS
    endpointer = Endpointer(math.inf if is_short else COMMIT_SECONDS)
    turn, found = Turn(), list[Utterance]()

    def handle(signals: tuple[Signal, ...]) -> None:
        for signal in signals:
            match signal:
                case Started():
                    turn.begin()
                case Committed():
                    found.append(turn.so_far(signal))
                    turn.drop(signal.ended_at)
                case Dropped():
                    turn.drop(signal.ended_at)

    detector.reset()
    whole = np.concatenate([samples, np.zeros(-len(samples) % CHUNK_SAMPLES, np.int16)]).reshape(-1, CHUNK_SAMPLES)
    for number, chunk in enumerate(whole):
        at = began + number * CHUNK_SECONDS
        signals = endpointer.process(detector.probability(chunk), at)
        turn.take(AudioChunk(chunk, at), rms_dbfs(chunk), is_kept=endpointer.is_in_turn or bool(turn.chunks))
        handle(signals)
    handle(endpointer.flush(began + len(whole) * CHUNK_SECONDS))
    return found


def as_one(turns: Sequence[RecognizedTurn]) -> RecognizedTurn:
    """Return several turns of one recording as one; its evidence is theirs, as long as each spoke."""
    if len(turns) == 1:
        return turns[0]
    heard = [each.utterance for each in turns]
    spoken = [max(each.speech_seconds, CHUNK_SECONDS) for each in heard]

    def mean(values: Sequence[float]) -> float:
        return float(np.average(values, weights=spoken))

    names = set[str].intersection(*(set(each.transcript.evidence) for each in turns))
    transcript = replace(
        turns[0].transcript,
        text=" ".join(each.transcript.text for each in turns if each.transcript.text),
        confidence="low" if any(each.transcript.confidence == "low" for each in turns) else "normal",
        evidence={name: mean([each.transcript.evidence[name] for each in turns]) for name in names},
        voice=turns[int(np.argmax(spoken))].transcript.voice,
    )
    utterance = replace(
        heard[0],
        samples=np.concatenate([each.samples for each in heard]),
        ended_at=heard[-1].ended_at,
        committed_at=heard[-1].committed_at,
        speech_seconds=sum(each.speech_seconds for each in heard),
        level_dbfs=mean([each.level_dbfs for each in heard]),
        noise_dbfs=heard[-1].noise_dbfs,
        probability=mean([each.probability or 0.0 for each in heard]),
    )
    return RecognizedTurn(utterance, transcript, turns[-1].recognized_at)
