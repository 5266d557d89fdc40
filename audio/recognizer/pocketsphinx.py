"""pocketsphinx with the English model of its wheel, the last resort: good at commands, bad at free speech.

An utterance is decoded with the command grammar, as a mere string of phones, and with the wheel's language model. A
grammar finds a command in any sound, and the language model English words in any language. Both are weighed against the
phones: a command is believed by its evidence and by how far the language model heard the same, and of free speech it is
said how likely it was understood.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
from msgspec import Struct

from audio.errors import RecognitionFailed
from audio.pcm import SAMPLE_RATE, Samples
from audio.speech import Transcript, Utterance

if TYPE_CHECKING:
    from pocketsphinx import Decoder

Grammar: TypeAlias = Mapping[str, Sequence[str]]
"""Rule name -> alternatives in JSGF expansion syntax: words, (a | b), [optional], <rule>."""

TOP_RULE: Final = "command"
"""The rule whose alternatives are whole utterances."""

_TOKEN: Final = re.compile(r"<[^>\s]+>|[()\[\]|]|[^\s()\[\]|<>]+")

_CLOSING: Final = {"(": ")", "[": "]"}


def restrict(grammar: Grammar, knows: Callable[[str], bool]) -> dict[str, list[str]]:
    """Return what of the grammar can be said with known words, at every depth; rules left without anything are dropped.

    One unknown word makes the decoder refuse a whole grammar, and so does a rule that does not exist.
    Raises ValueError when brackets do not match.
    """
    left = {name: list(alternatives) for name, alternatives in grammar.items()}
    while True:
        kept: dict[str, list[str]] = {}
        for name, alternatives in left.items():
            sayable = [said for each in alternatives if (said := _Expansion(each.lower(), left, knows).sayable())]
            if sayable:
                kept[name] = sayable
        if kept == left:
            return kept
        left = kept


def jsgf(grammar: Grammar) -> str:
    """Return the grammar as JSGF text whose public rule is `TOP_RULE`."""
    rules = [
        f"{'public ' if name == TOP_RULE else ''}<{name}> = {' | '.join(f'({each})' for each in alternatives)};"
        for name, alternatives in grammar.items()
    ]
    return "\n".join(["#JSGF V1.0;", "grammar commands;", *rules, ""])


class _Expansion:
    """One alternative, read from left to right; what cannot be said is None."""

    def __init__(self, text: str, grammar: Grammar, knows: Callable[[str], bool]) -> None:
        self._text = text
        self._tokens = _TOKEN.findall(text)
        self._grammar = grammar
        self._knows = knows

    def sayable(self) -> str | None:
        said = self._choice()
        if self._tokens:
            raise ValueError(f"unbalanced brackets in the command {self._text!r}")
        return said

    def _choice(self) -> str | None:
        """Return the choices that can be said, up to a closing bracket or the end."""
        choices = [self._sequence()]
        while self._tokens and self._tokens[0] == "|":
            self._tokens.pop(0)
            choices.append(self._sequence())
        sayable = [choice for choice in choices if choice is not None]
        return " | ".join(sayable) if sayable else None

    def _sequence(self) -> str | None:
        """Return the sequence if every part of it can be said."""
        parts: list[str | None] = []
        while self._tokens and self._tokens[0] not in {"|", ")", "]"}:
            parts.append(self._part(self._tokens.pop(0)))
        said = [part for part in parts if part is not None]
        return " ".join(part for part in said if part) if len(said) == len(parts) else None

    def _part(self, token: str) -> str | None:
        if token not in _CLOSING:
            is_known = token[1:-1] in self._grammar if token.startswith("<") else self._knows(token)
            return token if is_known else None
        inner = self._choice()
        if not self._tokens or self._tokens.pop(0) != _CLOSING[token]:
            raise ValueError(f"unbalanced brackets in the command {self._text!r}")
        if token == "[":
            return f"[{inner}]" if inner else ""
        return f"({inner})" if inner is not None else None


WHOLE_NATS: Final = 400.0
"""Nats by which the grammar has to beat the string of phones where the language model heard nothing of the command."""

BELIEVED: Final = 0.9
"""The least sum of the share of `WHOLE_NATS` and of the agreement of both searches, in [0, 1], for a command.

In nats and not in nats a frame: a short word needs more from the other search, a sentence brings its evidence along.
"""

UNDERSTOOD_BY_NATS: Final = 2.3
UNDERSTOOD_BY_LENGTH: Final = 1.4
UNDERSTOOD_AT_ALL: Final = -0.9
"""Of `understanding`: a logistic regression on human clips of ten languages, English and others weighing the same."""

LEAST_WORD_SECONDS: Final = 0.1
"""A shorter mean length of the words says no more."""

MOST_NATS: Final = 3.0
"""A frame, either way."""

MOST_MARGIN: Final = 10.0
"""A frame, either way: where nothing fits it is endless, which is no figure to keep."""

MOST_SECONDS: Final = 4.0
"""Speech for which each second counts; after it the average does not become surer."""

GRAMMAR_WEIGHT: Final = 1.0
"""Exponent of the grammar's own probabilities: at upstream's 6.5 a longer list of commands would lower every score."""

MOST_HMMS: Final = 3000
"""That the language model follows in a frame: it gets as many words wrong as with upstream's 30,000, a third faster."""

FRAMES_A_SECOND: Final = 100

SCORE_NATS: Final = 1024 * math.log(1.0001)
"""The decoder counts in 1024ths of its logarithm to the base 1.0001 (upstream `SENSCR_SHIFT`, `-logbase`)."""

_VOWELS: Final = frozenset("AEIOU")
"""What the phones begin with that are vowels, and no other does."""

_FILLERS: Final = frozenset({"SIL", "+SPN+", "+NSN+", "+BREATH+", "+SMK+", "+COUGH+"})


class _Heard(Struct, frozen=True):
    """What one search made of the sound."""

    text: str
    nats: float
    """Log-likelihood of the whole sound; minus infinity when nothing fits."""
    speech_frames: int
    """Frames (10 ms) that are no silence and no noise."""
    words: int = 0
    """How many lie in them."""


class PocketsphinxRecognizer:
    """Commands by a grammar (`normal` confidence), else words by a language model (`low`). English only.

    Evidence: command_margin, in nats a frame; command_agreement with the language model, in [0, 1]; understood, the
    probability that free speech is about what was said, which in another language it is not.
    """

    name = "pocketsphinx"
    sends_to = ()

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._decoders: tuple[Decoder, Decoder] | None = None
        self.commands: dict[str, list[str]] = {}
        """The grammar without what the dictionary does not know; filled by `warm`."""

    def warm(self) -> None:
        """Load the models (0.5 s, 120 MB) and decode a second of noise. Raises `RecognitionFailed`."""
        noise = np.random.default_rng(0).normal(0.0, 100.0, SAMPLE_RATE).astype(np.int16)
        self._command(noise)
        self._decode_speech("words", noise)

    def transcribe(self, utterance: Utterance) -> Transcript:
        """Return the command, or what the language model heard. Raises `RecognitionFailed`."""
        return self.find(utterance.samples)

    def find(self, samples: Samples) -> Transcript:
        """Do the same with the mere sound (int16, shape (n,), 16 kHz)."""
        phones = self._decode_speech("phones", samples)
        free = self._decode_speech("words", samples)
        command = self._command(samples)
        evidence: dict[str, float] = {}
        if command.text:
            evidence["command_margin"] = _margin(command, phones)
            evidence["command_agreement"] = agreement(self._phones_of(command.text), self._phones_of(free.text))
            if (command.nats - phones.nats) / WHOLE_NATS + evidence["command_agreement"] >= BELIEVED:
                return Transcript(command.text, "en", self.name, "normal", evidence)
        evidence["understood"] = understanding(free, phones)
        return Transcript(free.text, "en", self.name, "low", evidence)

    def _command(self, samples: Samples) -> _Heard:
        """Return the best command; "" when none fits to its end."""
        commands, _ = self._loaded()
        return _decode(commands, "commands", samples) if self.commands else _Heard("", -math.inf, 0)

    def _decode_speech(self, search: str, samples: Samples) -> _Heard:
        _, speech = self._loaded()
        return _decode(speech, search, samples)

    def _phones_of(self, text: str) -> list[str]:
        """Return how the dictionary pronounces a text; nothing for what it does not know."""
        _, speech = self._loaded()
        return [phone for word in text.split() for phone in (speech.lookup_word(word) or "").split()]

    def _loaded(self) -> "tuple[Decoder, Decoder]":
        if self._decoders is None:
            self._decoders = self._load()
        return self._decoders

    def _load(self) -> "tuple[Decoder, Decoder]":
        """Return a decoder for commands and one for speech: the weight of a grammar is set for a whole decoder."""
        try:
            from pocketsphinx import Decoder, get_model_path
        except ImportError as error:  # Python 3.12 on aarch64 has no wheel of it
            raise RecognitionFailed(
                "the recognizer of last resort is not installed here (pocketsphinx has no wheel for this Python); "
                "put a Whisper model in place, or use Python 3.11 or 3.13"
            ) from error
        shared = {
            "hmm": get_model_path("en-us/en-us"),
            "dict": get_model_path("en-us/cmudict-en-us.dict"),
            "lm": None,
            "loglevel": "FATAL",
            # Scores relative to the best of all senones, so that different searches compare.
            "compallsen": True,
        }
        try:
            # Without the best path through the lattice a command that was not said to its end stays none.
            commands = Decoder(**shared, bestpath=False, lw=GRAMMAR_WEIGHT)
            self.commands = restrict(self._grammar, lambda word: commands.lookup_word(word) is not None)
            if TOP_RULE not in self.commands:
                self.commands = {}
            else:
                commands.add_jsgf_string("commands", jsgf(self.commands))
            speech = Decoder(**shared, fwdflat=False, maxhmmpf=MOST_HMMS)
            speech.add_allphone_file("phones", get_model_path("en-us/en-us-phone.lm.bin"))
            speech.add_lm_file("words", get_model_path("en-us/en-us.lm.bin"))
        except (RuntimeError, ValueError) as error:
            raise RecognitionFailed(f"pocketsphinx could not be loaded: {error}; install nakari again") from error
        return commands, speech


def _decode(decoder: "Decoder", search: str, samples: Samples) -> _Heard:
    try:
        decoder.activate_search(search)
        decoder.reinit_feat()  # its estimate of the noise begins anew (0.2 ms): what came before changes nothing
        decoder.start_utt()
        try:
            decoder.process_raw(samples.tobytes(), full_utt=True)
        finally:
            decoder.end_utt()  # one left open refuses every later search with a KeyError
    except RuntimeError as error:
        raise RecognitionFailed(f"pocketsphinx could not decode {len(samples) / SAMPLE_RATE:.1f} s: {error}") from error
    best = decoder.hyp()
    if best is None or best.score <= 0.0:
        return _Heard(best.hypstr if best else "", -math.inf, 0)
    spoken = [each for each in decoder.seg() if each.word not in _FILLERS and each.word[0] not in "<["]
    frames = sum(each.end_frame - each.start_frame + 1 for each in spoken)
    return _Heard(best.hypstr, decoder.get_logmath().log(best.score) * SCORE_NATS, frames, len(spoken))


def _margin(heard: _Heard, phones: _Heard) -> float:
    """Return by how many nats a frame of speech a search beats the string of phones."""
    margin = (heard.nats - phones.nats) / max(1, phones.speech_frames)
    return max(-MOST_MARGIN, min(MOST_MARGIN, margin))


def agreement(one: Sequence[str], other: Sequence[str]) -> float:
    """Return in [0, 1] how far two readings of a sound are the same phones (ARPAbet) in the same order.

    Their edit distance over the longer one; a vowel for another, or a consonant for another, is half a mistake.
    """
    row = [float(place) for place in range(len(other) + 1)]
    for phone in one:
        before, row[0] = row[0], row[0] + 1.0
        for place, heard in enumerate(other, 1):
            wrong = 0.0 if phone == heard else 0.5 if (phone[0] in _VOWELS) == (heard[0] in _VOWELS) else 1.0
            before, row[place] = row[place], min(row[place] + 1.0, row[place - 1] + 1.0, before + wrong)
    return 1.0 - row[-1] / max(1, len(one), len(other))


def understanding(free: _Heard, phones: _Heard) -> float:
    """Return the probability that the language model's words are about what was said.

    In another language the phones explain the sound better, and the words are many and short.
    """
    if not free.words:
        return 0.0
    seconds = min(phones.speech_frames / FRAMES_A_SECOND, MOST_SECONDS)
    by_nats = max(-MOST_NATS, min(MOST_NATS, _margin(free, phones))) * math.sqrt(seconds)
    by_length = math.log(max(LEAST_WORD_SECONDS, free.speech_frames / free.words / FRAMES_A_SECOND))
    return 1.0 / (
        1.0 + math.exp(-(UNDERSTOOD_AT_ALL + UNDERSTOOD_BY_NATS * by_nats + UNDERSTOOD_BY_LENGTH * by_length))
    )
