"""Sentences to train on, as features: made voices in any room, pauses within and between sentences, and mere noise."""

import importlib
import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from audio.pcm import SAMPLE_RATE, Samples
from benchmarks.keywords import rooms
from benchmarks.keywords.rooms import Random, Sound
from benchmarks.streaming.export import BANDS
from benchmarks.streaming.sentences import encoded
from benchmarks.streaming.voices import Said

Features = NDArray[np.float16]

NOISE, PAIR, BROKEN = 0.04, 0.12, 0.2
"""Shares of what is only noise, of two sentences in one, and of sentences with a pause between two words."""


class Example(Struct, frozen=True):
    """What is heard and what it should become."""

    features: Features
    """(T, 80), log-mel."""
    target: Sequence[int]
    """Places in `tokens`."""


def features_of(samples: Samples) -> Features:
    """Return what sherpa-onnx computes of 16 kHz sound: kaldi's log-mel bands, a frame each 10 ms."""
    knf: Any = importlib.import_module("kaldi_native_fbank")
    options = knf.FbankOptions()
    options.frame_opts.dither = 0
    options.frame_opts.snip_edges = False
    options.frame_opts.samp_freq = SAMPLE_RATE
    options.mel_opts.num_bins = BANDS
    options.mel_opts.high_freq = -400
    fbank = knf.OnlineFbank(options)
    fbank.accept_waveform(SAMPLE_RATE, samples.astype(np.float32) / 32768)
    fbank.input_finished()
    frames = [fbank.get_frame(number) for number in range(fbank.num_frames_ready)]
    return np.asarray(frames, np.float16)


class Dataset:
    """Draws examples."""

    def __init__(self, said: Sequence[Said], halves: Mapping[str, Sequence[Said]], random_: Random) -> None:
        """`halves` are parts of sentences, said alone: the first words under "first", the others under "rest"."""
        self._said, self._random = said, random_
        self._firsts, self._rests = halves["first"], halves["rest"]

    def examples(self, count: int) -> list[Example]:
        """Return so many examples."""
        return [self._example() for _ in range(count)]

    def _example(self) -> Example:
        draw, kind = self._random, self._random.random()
        if kind < NOISE:
            noise = rooms.hiss(int(draw.uniform(0.8, 3) * SAMPLE_RATE), draw) * 0.01
            return Example(features_of(rooms.recorded(noise, draw)), ())
        one = self._said[int(draw.integers(len(self._said)))]
        sound, target = one.samples.astype(np.float64), encoded(one.text)
        if kind < NOISE + PAIR:
            other = self._said[int(draw.integers(len(self._said)))]
            sound = self._joined(sound, other.samples, draw.uniform(0.4, 1.2))
            target = target + encoded(other.text)
        elif kind < NOISE + PAIR + BROKEN and self._firsts:
            place = int(draw.integers(len(self._firsts)))
            first, rest = self._firsts[place], self._rests[place]
            sound = self._joined(first.samples.astype(np.float64), rest.samples, draw.uniform(0.2, 1.2))
            target = encoded(first.text) + encoded(rest.text)
        return Example(self._heard(sound), target)

    def _joined(self, first: Sound, second: Samples, pause: float) -> Sound:
        return np.concatenate([first, np.zeros(int(pause * SAMPLE_RATE)), second.astype(np.float64)])

    def _heard(self, sound: Sound) -> Features:
        draw = self._random
        sound = rooms.coloured(rooms.faster(sound / rooms.rms(sound) * 1000, draw.uniform(0.88, 1.14)), draw)
        if draw.random() < 0.25:
            sound = rooms.in_a_room(sound, draw)
        before, after = draw.uniform(0.05, 0.9), draw.uniform(0.15, 0.6)
        whole = np.pad(sound, (int(before * SAMPLE_RATE), int(after * SAMPLE_RATE)))
        whole = rooms.beside(whole, rooms.hiss(len(whole), draw), draw.uniform(6, 60))
        return features_of(rooms.recorded(whole, draw))


def halves_of(texts: Mapping[str, Sequence[str]], drawn: random.Random) -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Return sentences cut between two words, by language: the first halves under "first", the others under "rest"."""
    firsts: dict[str, list[str]] = {}
    rests: dict[str, list[str]] = {}
    for language, sentences in texts.items():
        for text in sentences:
            words = list(text) if language == "zh" else text.split()
            if len(words) < 3:
                continue
            cut, mark = drawn.randint(1, len(words) - 1), "" if language == "zh" else " "
            firsts.setdefault(language, []).append(mark.join(words[:cut]))
            rests.setdefault(language, []).append(mark.join(words[cut:]))
    return {"first": firsts, "rest": rests}
