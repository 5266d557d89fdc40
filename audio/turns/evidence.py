"""The hallucination gate: weighs all evidence of an utterance and its transcript; never a list of phrases."""

from dataclasses import dataclass
from typing import Final

from audio.speech import RecognizedTurn

FIRST_SYLLABIC: Final = "\u2e80"
"""The first of the characters (Chinese, Japanese, Korean) that each stand for a syllable; Unicode's CJK radicals."""

TOO_FAST: Final = 1.125
"""Factor above `Thresholds.most_letters` from which the speed alone decides."""

LETTERS_A_SYLLABLE: Final = 3
"""What such a character counts, so that one bound on the speed of speech holds for all scripts."""

LONG_SECONDS: Final = 1.2
"""Speech of this length and more is doubted neither for being short nor for its pauses."""

SHORTEST_SECONDS: Final = 0.2
"""Speech of this length and less is as doubtful as shortness makes it: `SHORT_WEIGHT`, which never decides alone."""

SHORT_WEIGHT: Final = 0.25

LITTLE_ECHO: Final = 0.3
"""Suspicion up to which the sound is not taken for nakari's own voice."""

WHISPER_WEIGHT: Final = 0.6
"""Of avg_logprob and of no_speech_prob: neither decides alone, both together do, as upstream has it."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The figures of one utterance; None for what was not measured."""

    speech_seconds: float | None = None
    """How much of it the voice detector called speech."""
    span_seconds: float | None = None
    """From the first to the last of it."""
    snr_db: float | None = None
    """Level of the speech above the background before it."""
    letters: int | None = None
    """Length of the transcript, see `letters_of`."""
    most_letters: float | None = None
    """Letters a second above which this recognizer invents; None for one of which nobody measured it."""
    is_guess: bool = False
    """Whether the recognizer itself trusts it little (`Transcript.confidence` is low)."""
    avg_logprob: float | None = None
    no_speech_prob: float | None = None
    compression_ratio: float | None = None
    echo_suspicion: float | None = None
    """In [0, 1]: how likely the sound is the residual echo of nakari's voice."""

    @property
    def letters_per_second(self) -> float | None:
        """How fast it was said, if it was."""
        if self.letters is None or not self.speech_seconds:
            return None
        return self.letters / self.speech_seconds


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Bounds past which a figure is evidence against speech. The defaults of Whisper's three figures are upstream's."""

    avg_logprob: float = -1.0
    """Upstream `log_prob_threshold`; not measured here, where no true Whisper weights can be had."""
    no_speech_prob: float = 0.6
    """Upstream `no_speech_threshold`."""
    compression_ratio: float = 2.4
    """Upstream `compression_ratio_threshold`: above it words repeat."""
    most_letters: float = 35.0
    """Letters in a second of speech; the fastest human clip here has 23, and auctioneers reach 35."""
    least_letters: float = 4.0
    """Letters in a second of speech; the slowest "yes" here has 5.5, a cough heard as "no" 3.4."""
    low_snr_db: float = 5.0
    """Speech so little above the background may be part of it (measured: a voice-like lead in music, 3 to 5) ..."""
    fair_snr_db: float = 10.0
    """... and speech so far above it is not."""
    short_seconds: float = 0.7
    """What has less speech must be without gaps; up to `LONG_SECONDS` gaps count ever less."""
    least_share: float = 0.75
    """Share of the speech in its span at which a short utterance is all gaps (measured: coughs 0.37 to 0.90, words
    0.98)."""
    guess_seconds: float = 0.75
    """A guess at less speech is worth nothing."""
    echo_suspicion: float = 0.8


UPSTREAM: Final = Thresholds()


@dataclass(frozen=True, slots=True)
class Doubt:
    """One figure that speaks against an utterance."""

    why: str
    weight: float
    """1 decides alone."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The sum of all doubts."""

    doubts: tuple[Doubt, ...] = ()
    """The heaviest first."""

    @property
    def is_doubtful(self) -> bool:
        """Whether the doubts together weigh as much as one that decides alone."""
        return sum(doubt.weight for doubt in self.doubts) >= 1.0 - 1e-9

    @property
    def reason(self) -> str:
        """Why nobody should get the words, without figures, so that it can be counted; "" when somebody should."""
        return f"no speech by the evidence: {', '.join(each.why for each in self.doubts)}" if self.is_doubtful else ""


def judge(evidence: Evidence, thresholds: Thresholds = UPSTREAM) -> Judgement:
    """Weigh all evidence together; what was not measured neither speaks for nor against."""
    doubts = [*_of_sound(evidence, thresholds), *_of_words(evidence, thresholds), *_of_recognizer(evidence, thresholds)]
    return Judgement(tuple(sorted((each for each in doubts if each.weight > 0.0), key=lambda each: -each.weight)))


def evidence_of(heard: RecognizedTurn) -> Evidence:
    """Return the figures of one turn."""
    utterance, told = heard.utterance, heard.transcript.evidence
    return Evidence(
        speech_seconds=utterance.speech_seconds,
        span_seconds=utterance.ended_at - utterance.started_at,
        snr_db=utterance.level_dbfs - utterance.noise_dbfs,
        letters=letters_of(heard.transcript.text),
        most_letters=told.get("most_letters"),
        is_guess=heard.transcript.confidence == "low",
        avg_logprob=told.get("avg_logprob"),
        no_speech_prob=told.get("no_speech_prob"),
        compression_ratio=told.get("compression_ratio"),
        echo_suspicion=utterance.echo_suspicion,
    )


def evidence_guard(heard: RecognizedTurn) -> str:
    """Return why nobody should get the words, "" when somebody should: a guard of the intake."""
    return judge(evidence_of(heard)).reason


def letters_of(text: str) -> int:
    """Return the length of a text as letters, spaces and points included; a Chinese character counts as three."""
    return sum(LETTERS_A_SYLLABLE if each >= FIRST_SYLLABIC else 1 for each in text)


def _of_sound(evidence: Evidence, thresholds: Thresholds) -> list[Doubt]:
    doubts = []
    seconds, span, snr = evidence.speech_seconds, evidence.span_seconds, evidence.snr_db
    if snr is not None:
        doubts.append(
            Doubt("hardly above the background", _between(snr, thresholds.fair_snr_db, thresholds.low_snr_db))
        )
    if seconds is not None:
        doubts.append(Doubt("short", SHORT_WEIGHT * _between(seconds, LONG_SECONDS, SHORTEST_SECONDS)))
    if seconds and span:
        share = _between(seconds / span, 1.0, thresholds.least_share)
        doubts.append(Doubt("in pieces", share * _between(seconds, LONG_SECONDS, thresholds.short_seconds)))
    if evidence.echo_suspicion is not None:
        doubts.append(Doubt("its own voice", _between(evidence.echo_suspicion, LITTLE_ECHO, thresholds.echo_suspicion)))
    return doubts


def _of_words(evidence: Evidence, thresholds: Thresholds) -> list[Doubt]:
    doubts = []
    speed = evidence.letters_per_second
    if speed is not None:
        # While nakari speaks the beginning of the speech is not counted: a little too fast decides nothing alone.
        most = evidence.most_letters or thresholds.most_letters
        doubts.append(Doubt("more words than can be said in the time", _between(speed, most, TOO_FAST * most)))
    if speed is not None and 0.0 < speed < thresholds.least_letters:
        doubts.append(Doubt("too few words for the time", 0.5))
    if evidence.compression_ratio is not None and evidence.compression_ratio > thresholds.compression_ratio:
        doubts.append(Doubt("words that repeat", 1.0))
    return doubts


def _of_recognizer(evidence: Evidence, thresholds: Thresholds) -> list[Doubt]:
    doubts = []
    if evidence.avg_logprob is not None and evidence.avg_logprob < thresholds.avg_logprob:
        doubts.append(Doubt("unlikely words", WHISPER_WEIGHT))
    if evidence.no_speech_prob is not None and evidence.no_speech_prob > thresholds.no_speech_prob:
        doubts.append(Doubt("no speech to the recognizer", WHISPER_WEIGHT))
    if evidence.is_guess and evidence.speech_seconds is not None and evidence.speech_seconds < thresholds.guess_seconds:
        doubts.append(Doubt("a guess at a syllable", 1.0))
    return doubts


def _between(value: float, none: float, full: float) -> float:
    """Return 0 for `none` and beyond, 1 for `full` and beyond, and what lies between in proportion."""
    return min(1.0, max(0.0, (value - none) / (full - none)))
