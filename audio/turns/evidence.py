"""The evidence gate: one score of all that speaks for an utterance and its words; never a list of phrases."""

from math import exp, log2
from typing import Final, TypeAlias

from msgspec import Struct

from audio.speech import RecognizedTurn, Transcript, Utterance

FIRST_SYLLABIC: Final = "\u2e80"
"""The first of the characters (Chinese, Japanese, Korean) that each stand for a syllable; Unicode's CJK radicals."""

LETTERS_A_SYLLABLE: Final = 3
"""What such a character counts, so that one bound on the speed of speech holds for all scripts."""

MOST_LETTERS: Final = 40.0
"""Letters in a second of speech that nobody says; the fastest human clip has 23, auctioneers reach 35."""

LEAST_LETTERS: Final = 4.0
"""Letters in a second of speech; with fewer a recognizer has heard only a part, for the slowest "yes" has 5.5."""

COMPRESSION_RATIO: Final = 2.4
"""Upstream's `compression_ratio_threshold` for Whisper: above it words repeat."""

AVG_LOGPROB, NO_SPEECH_PROB = -1.0, 0.6
"""Upstream's `log_prob_threshold` and `no_speech_threshold`; with a true Whisper base none of 98 clean turns was
refused whose words are known to be right, and one of 43 at 10 dB and at 5 dB."""

OWN_VOICE: Final = 0.8
"""Suspicion of echo from which on the sound is nakari's own voice, whatever else speaks for it."""

LITTLE_ECHO: Final = 0.3
"""Suspicion up to which it is not taken for that."""

REFUSED: Final = "no speech by the evidence"
"""What every reason of this gate begins with."""

LEAST_SCORE: Final = 0.3
"""Words with less reach nobody. The score is fitted at equal odds, and in a home most of what passes the voice detector
is a voice: chosen on other clips than the weights, where of 465 turns of speech from clean to 0 dB 2.4 % have less."""


A_DOUBT: Final = 0.25
"""Nats against the words from which on a figure is told among the reasons."""


class Evidence(Struct, frozen=True):
    """The figures of one utterance; None for what was not measured."""

    probability: float | None = None
    """Mean of the voice detector's probability over the speech, in [0, 1]."""
    speech_seconds: float | None = None
    """How much of it the voice detector called speech."""
    span_seconds: float | None = None
    """From the first to the last of it."""
    letters: int | None = None
    """Length of the transcript, see `letters_of`."""
    is_guess: bool = False
    """Whether the recognizer itself trusts it little (`Transcript.confidence` is low)."""
    avg_logprob: float | None = None
    no_speech_prob: float | None = None
    compression_ratio: float | None = None
    echo_suspicion: float | None = None
    """In [0, 1]: how likely the sound is the residual echo of nakari's voice."""

    @property
    def pace(self) -> float | None:
        """How fast they were said, if they were: letters in a second from the first sound to the last.

        Where the detector finds a voice in pieces, the words lie between them too.
        """
        seconds = self.span_seconds or self.speech_seconds
        return None if self.letters is None or not seconds else self.letters / seconds


class Weights(Struct, frozen=True):
    """The score in nats (log odds): where it stands by itself, and what each figure adds at best or takes at worst.

    Fitted by `benchmarks/ears/fit_evidence.py` on 456 turns of human speech and 92 of noise (`fit`), but for the
    recognizer's own figures and the echo. Those of Whisper are upstream's bounds in this scale: one alone takes back
    what good sound adds, both well past them decide, as upstream has it. How far speech is above the background was
    fitted too, and came to nothing: it is told with the words, and decides nothing.
    """

    start: float = 1.5
    certainty: float = 0.8
    """Of the detector: a mean probability of 1 adds it, one of 0.5 takes it."""
    duration: float = 2.5
    """The longer the more the detector's certainty counts: two seconds at 1 add it, two seconds at 0.7 take it."""
    brief: float = 4.5
    """Taken from a sound of 0.3 s and less that the detector is not all but sure of. Set by hand: of 59 one-word clips
    (`choose`) the ten so short had 0.87 and more, made coughs that recognizers find words in up to 0.86."""
    gaps: float = 2.2
    """Taken from what is speech for only half of its span."""
    hurry: float = 8.2
    """Taken from words at the bound of the impossible; nothing from those as fast as people talk."""
    guess: float = 3.0
    """Taken from what the recognizer itself hardly believes, for as short as it is."""
    unlikely: float = 3.0
    """Taken from words at a log-probability of 0.5 below upstream's bound; half of it at the bound."""
    silence: float = 3.0
    """Taken where the recognizer hears no speech; half of it at upstream's bound."""
    echo: float = 4.0
    """Taken from what is all but surely its own voice."""


FITTED: Final = Weights()


class Judgement(Struct, frozen=True):
    """What all evidence comes to."""

    score: float
    """How likely somebody said these words, in [0, 1]; 0 for what is impossible."""
    doubts: tuple[str, ...] = ()
    """What speaks against it, the heaviest first; of an impossible one only what is impossible."""

    @property
    def reason(self) -> str:
        """Why nobody should get the words, without figures, so that it can be counted; "" when somebody should."""
        return f"{REFUSED}: {', '.join(self.doubts)}" if self.score < LEAST_SCORE else ""


def judge(evidence: Evidence, weights: Weights = FITTED) -> Judgement:
    """Weigh all evidence together; what was not measured neither speaks for nor against."""
    if impossible := _impossible(evidence):
        return Judgement(0.0, impossible)
    terms = terms_of(evidence)
    nats: dict[str, float] = {}
    for (name, what), value in terms.items():
        nats[what] = nats.get(what, 0.0) + getattr(weights, name) * value
    doubts = tuple(what for what in sorted(nats, key=nats.__getitem__) if nats[what] <= -A_DOUBT)
    return Judgement(1.0 / (1.0 + exp(-weights.start - sum(nats.values()))), doubts)


def evidence_of(heard: RecognizedTurn) -> Evidence:
    """Return the figures of one turn."""
    utterance, told = heard.utterance, heard.transcript.evidence
    return Evidence(
        probability=utterance.probability,
        speech_seconds=utterance.speech_seconds,
        span_seconds=utterance.ended_at - utterance.started_at,
        letters=letters_of(heard.transcript.text),
        is_guess=heard.transcript.confidence == "low",
        avg_logprob=told.get("avg_logprob"),
        no_speech_prob=told.get("no_speech_prob"),
        compression_ratio=told.get("compression_ratio"),
        echo_suspicion=utterance.echo_suspicion,
    )


def evidence_guard(heard: RecognizedTurn) -> str:
    """Return why nobody should get the words, "" when somebody should: a guard of the intake."""
    return judge(evidence_of(heard)).reason


CLEAR_SECONDS, CLEAR_PROBABILITY = 1.0, 0.85
"""Speech of such a length that the detector is so sure of is nobody's cough, whatever its words came to: on the clips
that thresholds are chosen on 184 of 204 turns of speech so long, from clean to 0 dB, and none of 89 noises."""


def sounds_like_speech(utterance: Utterance) -> bool:
    """Whether somebody surely spoke, by the sound alone: long, and clear to the detector, and no echo."""
    is_clear = (utterance.probability or 0.0) >= CLEAR_PROBABILITY and utterance.speech_seconds >= CLEAR_SECONDS
    return is_clear and utterance.echo_suspicion < LITTLE_ECHO


def is_to_be_heard_again(heard: Transcript, utterance: Utterance) -> bool:
    """Whether the words' own figures speak against them, so that another try may do better.

    They are hardly likely, repeated, too many or too few.
    """
    told, letters = heard.evidence, letters_of(heard.text)
    evidence = Evidence(
        speech_seconds=utterance.speech_seconds,
        letters=letters,
        avg_logprob=told.get("avg_logprob"),
        no_speech_prob=told.get("no_speech_prob"),
        compression_ratio=told.get("compression_ratio"),
    )
    is_cut = 0 < letters < LEAST_LETTERS * utterance.speech_seconds
    return is_cut or bool(_impossible(evidence)) or any(said <= -0.5 for said in _of_words(evidence).values())


def letters_of(text: str) -> int:
    """Return the length of a text as letters, spaces and points included; a Chinese character counts as three."""
    return sum(LETTERS_A_SYLLABLE if each >= FIRST_SYLLABIC else 1 for each in text)


Term: TypeAlias = tuple[str, str]
"""The weight's name, and what is said where the figure speaks against the words."""

_CERTAINTY: Final = ("certainty", "hardly a voice")
_DURATION: Final = ("duration", "hardly a voice")
_BRIEF: Final = ("brief", "hardly a voice")
_GAPS: Final = ("gaps", "in pieces")
_HURRY: Final = ("hurry", "more words than are said in the time")
_GUESS: Final = ("guess", "a guess at a syllable")
_UNLIKELY: Final = ("unlikely", "unlikely words")
_SILENCE: Final = ("silence", "no speech to the recognizer")
_ECHO: Final = ("echo", "its own voice")


def terms_of(evidence: Evidence) -> dict[Term, float]:
    """Return of every measured figure what it says: 1 for the words at its best, -1 against them at its worst."""
    return {**_of_sound(evidence), **_of_words(evidence)}


def _of_sound(evidence: Evidence) -> dict[Term, float]:
    terms: dict[Term, float] = {}
    seconds, span = evidence.speech_seconds, evidence.span_seconds
    if evidence.probability is not None:
        terms[_CERTAINTY] = _both_ways(evidence.probability, 0.5)
    if evidence.probability is not None and seconds:
        length = _between(log2(seconds), log2(0.25), log2(2.0))
        terms[_DURATION] = length * _both_ways(evidence.probability, 0.7)
        terms[_BRIEF] = -_between(seconds, 0.35, 0.3) * _between(evidence.probability, 0.92, 0.82)
    if seconds and span:
        terms[_GAPS] = -_between(seconds / span, 1.0, 0.5)
    if evidence.echo_suspicion is not None:
        terms[_ECHO] = -_between(evidence.echo_suspicion, LITTLE_ECHO, OWN_VOICE)
    return terms


def _of_words(evidence: Evidence) -> dict[Term, float]:
    terms: dict[Term, float] = {}
    seconds, pace = evidence.speech_seconds, evidence.pace
    if pace:
        terms[_HURRY] = -_between(pace, 20.0, MOST_LETTERS)
    if evidence.is_guess and seconds is not None:
        terms[_GUESS] = -_between(seconds, 1.0, 0.75)
    if evidence.avg_logprob is not None:
        terms[_UNLIKELY] = -_between(evidence.avg_logprob, AVG_LOGPROB + 0.5, AVG_LOGPROB - 0.5)
    if evidence.no_speech_prob is not None:
        terms[_SILENCE] = -_between(evidence.no_speech_prob, 2 * NO_SPEECH_PROB - 1.0, 1.0)
    return terms


def _impossible(evidence: Evidence) -> tuple[str, ...]:
    """Return what nobody can have said, whatever else speaks for it; empty when somebody can."""
    pace = evidence.pace
    found = {
        "words that repeat": (evidence.compression_ratio or 0.0) > COMPRESSION_RATIO,
        "more words than can be said in the time": pace is not None and pace > MOST_LETTERS,
        "its own voice": (evidence.echo_suspicion or 0.0) >= OWN_VOICE,
    }
    return tuple(what for what, is_so in found.items() if is_so)


def _both_ways(probability: float, worst: float) -> float:
    """Return -1 for `worst` and less, 1 for certainty, and what lies between in proportion."""
    return 2.0 * _between(probability, worst, 1.0) - 1.0


def _between(value: float, none: float, full: float) -> float:
    """Return 0 for `none` and beyond, 1 for `full` and beyond, and what lies between in proportion."""
    return min(1.0, max(0.0, (value - none) / (full - none)))
