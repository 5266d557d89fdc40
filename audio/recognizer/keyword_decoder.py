"""Keyword spotting by pocketsphinx: where phrases are in a sound, and how likely against any string of phones."""

import math
import random
import re
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from msgspec import Struct

from audio.errors import RecognitionFailed

if TYPE_CHECKING:
    from pocketsphinx import Decoder

    from audio.pcm import Samples

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


GRAMMAR_WEIGHT: Final = 1.0
"""Exponent of the grammar's own probabilities: at upstream's 6.5 a longer list of commands would lower every score."""

MOST_HMMS: Final = 3000
"""That the language model follows in a frame: it gets as many words wrong as with upstream's 30,000, a third faster."""

ALL_SENONES: Final = True
"""Scores relative to the best of all senones, so that different searches compare."""

FRAMES_A_SECOND: Final = 100

SCORE_NATS: Final = 1024 * math.log(1.0001)
"""The decoder counts in 1024ths of its logarithm to the base 1.0001 (upstream `SENSCR_SHIFT`, `-logbase`)."""

BYTES_A_SECOND: Final = 32_000
"""int16 at 16 kHz."""

NOISE: Final = random.Random(0).randbytes(BYTES_A_SECOND)
"""What nobody could take for words."""

_FILLERS: Final = frozenset({"SIL", "+SPN+", "+NSN+", "+BREATH+", "+SMK+", "+COUGH+"})


class Heard(Struct, frozen=True):
    """What one search made of a sound."""

    text: str
    nats: float
    """Log-likelihood of the whole sound; minus infinity when nothing fits."""
    speech_frames: int = 0
    """Frames (10 ms) that are no silence and no noise."""
    words: int = 0
    """How many lie in them."""
    phones: tuple[str, ...] = ()
    """How the dictionary pronounces the text (ARPAbet); nothing for what it does not know."""


class CommandSearch:
    """Hears commands. Loads in 0.5 s. One thread at a time, which holds Python's lock (docs/decisions/0162)."""

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._decoder: Decoder | None = None
        self.commands: dict[str, list[str]] = {}
        """The grammar without what the dictionary does not know; filled by `warm`."""

    def warm(self) -> None:
        """Load the model, and hear a second of noise. Blocking. Raises `RecognitionFailed`."""
        self.find(NOISE)

    def find(self, pcm: bytes) -> Heard:
        """Return the best command (int16, 16 kHz), "" when none fits. Blocking. Raises `RecognitionFailed`."""
        decoder = self._decoder = self._decoder or self._load()
        return _decode(decoder, "commands", pcm) if self.commands else Heard("", -math.inf)

    def _load(self) -> "Decoder":
        # Without the best path through the lattice a command that was not said to its end stays none.
        decoder = decoder_with(compallsen=ALL_SENONES, bestpath=False, lw=GRAMMAR_WEIGHT)
        with loading():
            self.commands = restrict(self._grammar, lambda word: decoder.lookup_word(word) is not None)
            if TOP_RULE not in self.commands:
                self.commands = {}
            else:
                decoder.add_jsgf_string("commands", jsgf(self.commands))
        return decoder


class SpeechSearch:
    """Hears free speech. Loads in 0.5 s. One thread at a time, which holds Python's lock (docs/decisions/0162)."""

    def __init__(self) -> None:
        self._decoder: Decoder | None = None

    def warm(self) -> None:
        """Load the models, and hear a second of noise. Blocking. Raises `RecognitionFailed`."""
        self.find(NOISE)

    def find(self, pcm: bytes) -> tuple[Heard, Heard]:
        """Return the likeliest phones and words of a sound (int16, 16 kHz). Blocking. Raises `RecognitionFailed`."""
        decoder = self._decoder = self._decoder or self._load()
        return _decode(decoder, "phones", pcm), _decode(decoder, "words", pcm)

    def _load(self) -> "Decoder":
        from pocketsphinx import get_model_path

        decoder = decoder_with(compallsen=ALL_SENONES, fwdflat=False, maxhmmpf=MOST_HMMS)
        with loading():
            decoder.add_allphone_file("phones", get_model_path("en-us/en-us-phone.lm.bin"))
            decoder.add_lm_file("words", get_model_path("en-us/en-us.lm.bin"))
        return decoder


def decoder_with(**settings: float) -> "Decoder":
    """Return a decoder of the wheel's English model, without a search. Raises `RecognitionFailed`."""
    try:
        from pocketsphinx import Decoder, get_model_path
    except ImportError as error:  # Python 3.12 on aarch64 has no wheel of it
        raise RecognitionFailed(
            "the recognizer of last resort is not installed here (pocketsphinx has no wheel for this Python); "
            "put a Whisper model in place, or use Python 3.11 or 3.13"
        ) from error
    with loading():
        return Decoder(
            hmm=get_model_path("en-us/en-us"),
            dict=get_model_path("en-us/cmudict-en-us.dict"),
            lm=None,
            loglevel="FATAL",
            **settings,
        )


@contextmanager
def loading() -> Iterator[None]:
    """Tell what goes wrong while something of it is loaded, as `RecognitionFailed`."""
    try:
        yield
    except (RuntimeError, ValueError, OSError) as error:
        raise RecognitionFailed(f"pocketsphinx could not be loaded: {error}; install nakari again") from error


@contextmanager
def utterance(decoder: "Decoder") -> Iterator[None]:
    """Have what is given in the block for one utterance; left open, it would refuse every later search."""
    decoder.start_utt()
    try:
        yield
    finally:
        decoder.end_utt()


def _decode(decoder: "Decoder", search: str, pcm: bytes) -> Heard:
    try:
        decoder.activate_search(search)
        decoder.reinit_feat()  # its estimate of the noise begins anew (0.2 ms): what came before changes nothing
        with utterance(decoder):
            decoder.process_raw(pcm, full_utt=True)
    except RuntimeError as error:
        raise RecognitionFailed(f"pocketsphinx could not decode {len(pcm) / BYTES_A_SECOND:.1f} s: {error}") from error
    best = decoder.hyp()
    if best is None or best.score <= 0.0:
        return Heard(best.hypstr if best else "", -math.inf)
    spoken = [each for each in decoder.seg() if each.word not in _FILLERS and each.word[0] not in "<["]
    frames = sum(each.end_frame - each.start_frame + 1 for each in spoken)
    nats = decoder.get_logmath().log(best.score) * SCORE_NATS
    phones = [phone for word in best.hypstr.split() for phone in (decoder.lookup_word(word) or "").split()]
    return Heard(best.hypstr, nats, frames, len(spoken), tuple(phones))


LAXEST: Final = -40
"""Exponent at which the decoder itself gives up; callers apply their own thresholds to what it reports."""

_LOG_BASE: Final = math.log(1.0001)
_KEYWORD_OFFSET: Final = 1500
_SCORE_SHIFT: Final = 1024
"""The decoder's logarithm, and what its keyword search takes off each score (upstream `KWS_MAX`, `SENSCR_SHIFT`)."""


class Keyword(Struct, frozen=True):
    """A phrase that was found."""

    words: str
    start: float
    """Seconds from the first sample."""
    end: float
    """Seconds from the first sample."""
    exponent: float
    """Decimal exponent of how much likelier it was than any string of phones."""


class KeywordFinder(Protocol):
    """Whatever finds phrases in a sound. One thread at a time."""

    def warm(self) -> None:
        """Load what is needed. Blocking. Raises `RecognitionFailed` where it is not installed, or broken."""

    def find(self, samples: "Samples") -> list[Keyword]:
        """Return the phrases in a sound (int16, shape (n,), 16 kHz), in order. Blocking. Raises `RecognitionFailed`."""


class KeywordDecoder:
    """A keyword search over the wheel's English model. One thread at a time. Loads in 0.3 s, 60 MB."""

    def __init__(self, phrases: Collection[str]) -> None:
        self._phrases = phrases
        self._decoder: Decoder | None = None

    def warm(self) -> None:
        """Load the model. Raises `RecognitionFailed` where it is not installed, or broken."""
        self._decoder = self._loaded()

    def find(self, pcm: bytes) -> list[Keyword]:
        """Return the phrases in a sound (int16, 16 kHz, mono), in order. Blocking, about 30 ms a second.

        Raises `RecognitionFailed`.
        """
        decoder = self._decoder = self._loaded()
        try:
            with utterance(decoder):
                decoder.process_raw(pcm, full_utt=True)
        except RuntimeError as error:
            raise RecognitionFailed(f"the keyword search failed: {error}") from error
        return [
            Keyword(
                each.word.strip(),
                each.start_frame / FRAMES_A_SECOND,
                each.end_frame / FRAMES_A_SECOND,
                exponent_of(each.prob),
            )
            for each in (decoder.seg() if decoder.hyp() else ())
        ]

    def _loaded(self) -> "Decoder":
        if self._decoder is not None:
            return self._decoder
        decoder = decoder_with()
        with loading(), tempfile.NamedTemporaryFile("w", suffix=".kws") as words:
            words.writelines(f"{phrase} /1e{LAXEST}/\n" for phrase in self._phrases)
            words.flush()
            decoder.add_kws("reflexes", words.name)
            decoder.activate_search("reflexes")
        return decoder


def exponent_of(prob: float) -> float:
    """Return the threshold's decimal exponent that a segment's `prob` would just meet."""
    return (math.log(prob) / _LOG_BASE + _KEYWORD_OFFSET) * _SCORE_SHIFT * _LOG_BASE / math.log(10)
