"""pocketsphinx with the English model of its wheel, the last resort: good at commands, bad at free speech.

An utterance is decoded with the command grammar, as a mere string of phones, and, if it is no command, with the wheel's
language model. A grammar finds a command in any sound; it is believed only when it explains the sound better than the
phones do, or when the language model heard the very same words.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

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


COMMAND_MARGIN: Final = 0.5
"""Nats a frame of speech by which the grammar has to beat the string of phones.

Measured: of 51 human clips that are no command none was believed (best margin 0.0), while 21 of 22 were whose sentence
was put among the commands (1.2 to 4.6), and 82 of 84 commands by four flite voices. What differs from a command in one
word passes ("where are my shoes" as keys): no threshold tells those apart."""

GRAMMAR_WEIGHT: Final = 1.0
"""Exponent of the grammar's own probabilities: at upstream's 6.5 a longer list of commands would lower every score."""

SCORE_NATS: Final = 1024 * math.log(1.0001)
"""The decoder counts in 1024ths of its logarithm to the base 1.0001 (upstream `SENSCR_SHIFT`, `-logbase`)."""

_FILLERS: Final = frozenset({"SIL", "+SPN+", "+NSN+", "+BREATH+", "+SMK+", "+COUGH+"})


@dataclass(frozen=True, slots=True)
class _Heard:
    """What one search made of the sound."""

    text: str
    nats: float
    """Log-likelihood of the whole sound; minus infinity when nothing fits."""
    speech_frames: int
    """Frames (10 ms) that are no silence and no noise."""


class PocketsphinxRecognizer:
    """Commands by a grammar (`normal` confidence), else words by a language model (`low`). English only."""

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
        self._free_speech(noise)

    def transcribe(self, utterance: Utterance) -> Transcript:
        """Return the command, or what the language model heard. Evidence: command_margin, in nats a frame."""
        command, margin = self._command(utterance.samples)
        evidence = {"command_margin": margin} if command else {}
        if command and margin >= COMMAND_MARGIN:
            return Transcript(command, "en", self.name, "normal", evidence)
        text = self._free_speech(utterance.samples)
        return Transcript(text, "en", self.name, "normal" if text and text == command else "low", evidence)

    def _command(self, samples: Samples) -> tuple[str, float]:
        """Return the best command and by how much it beats the string of phones; "" when none fits to its end."""
        commands, speech = self._loaded()
        if not self.commands:
            return "", 0.0
        command = _decode(commands, "commands", samples)
        if not command.text:
            return "", 0.0
        phones = _decode(speech, "phones", samples)
        return command.text, (command.nats - phones.nats) / max(1, phones.speech_frames)

    def _free_speech(self, samples: Samples) -> str:
        _, speech = self._loaded()
        return _decode(speech, "words", samples).text

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
            speech = Decoder(**shared, fwdflat=False)
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
    frames = sum(each.end_frame - each.start_frame + 1 for each in decoder.seg() if each.word not in _FILLERS)
    return _Heard(best.hypstr, decoder.get_logmath().log(best.score) * SCORE_NATS, frames)
