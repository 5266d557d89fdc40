"""Human speech, never skipped: Debian's eleven transcribed clips, and more where the project is developed.

The run ends with the figures; the bounds are generous.
"""

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from audio.capture.recording import read_recording
from audio.interfaces import VoiceDetector
from audio.pcm import CHUNK_SAMPLES, CHUNK_SECONDS, SAMPLE_RATE, Samples
from audio.recognizer.keyword_decoder import CommandSearch, Grammar, Heard, SpeechSearch
from audio.recognizer.pocketsphinx import PocketsphinxRecognizer, judged
from audio.speech import Transcript
from audio.turns.endpointer import Committed, Endpointer
from audio.turns.vad import load_detector
from tests.audio.spoken import (
    DEBIAN_CLIPS,
    SHARED_CLIPS,
    Clip,
    WordErrorRate,
    debian_clips,
    go_forward,
    plain,
    silence,
    utterance,
)
from tests.figures import figure
from tests.sample import sample

NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]

CARDS = {
    "command": ["<card> <card> <card>", "<card> <card>", "<card>", "<rank> <card>", "<rank> <rank>"],
    "card": ["<rank> [of] <suit>"],
    "suit": ["clubs", "hearts", "diamonds", "spades"],
    "rank": ["ace", *NUMBERS[1:], "jack", "queen", "king", "lady"],
}
"""The grammar of the card clips (upstream test/data/cards/cards.gram)."""

COMMANDS = {
    "command": [
        "what time is it",
        "what day is it",
        "set a timer for <number> (minutes | hours | seconds)",
        "(cancel | stop) the timer",
        "turn the volume (up | down)",
        "remember that my keys are in the drawer",
        "where are my keys",
        "never mind",
        "stop",
        "good morning",
        "thank you",
        "yes",
        "no",
    ],
    "number": [*NUMBERS, "fifteen", "twenty", "thirty"],
}
"""A household's commands, of which no clip is one."""


LONG = 5.0
"""Seconds of a clip, from which on the language model takes as long for it as for all of the short ones."""


@pytest.fixture(scope="module")
def free() -> PocketsphinxRecognizer:
    return PocketsphinxRecognizer(COMMANDS)


@pytest.fixture(scope="module")
def free_speech(every_step: bool) -> dict[str, tuple[Heard, Heard]]:
    """The phones and words that were heard in Debian's clips, by their names, whatever the grammar.

    They take longest, so nothing is decoded twice; without `--every-step` a sample of the cards, and what is read aloud
    in a few seconds.
    """
    read = [each for each in debian_clips("librivox") if every_step or each.seconds < LONG]
    clips = [*sample(debian_clips("cards"), 3, whole=every_step), *read, go_forward()]
    search = SpeechSearch()
    return {clip.name: search.find(utterance(clip.samples).samples.tobytes()) for clip in clips}


@pytest.fixture(scope="module")
def heard(free_speech: dict[str, tuple[Heard, Heard]]) -> dict[str, Transcript]:
    """What was heard in them by a box that knows a household's commands."""
    return by_grammar(COMMANDS, all_debian_clips(), free_speech)


def by_grammar(
    grammar: Grammar, clips: list[Clip], free_speech: dict[str, tuple[Heard, Heard]]
) -> dict[str, Transcript]:
    """Return what the recognizer tells of those of the clips whose free speech was heard, with such a grammar."""
    search = CommandSearch(grammar)
    return {
        clip.name: judged(search.find(utterance(clip.samples).samples.tobytes()), *free_speech[clip.name])
        for clip in clips
        if clip.name in free_speech
    }


def all_debian_clips() -> list[Clip]:
    clips = [*debian_clips("cards"), *debian_clips("librivox"), go_forward()]
    assert len(clips) == 11, f"{DEBIAN_CLIPS}: scripts/test installs pocketsphinx-testdata"
    return clips


def rate_of(clips: list[Clip], heard: dict[str, Transcript]) -> WordErrorRate:
    """Return how well those of the clips were understood that were heard."""
    rate = WordErrorRate()
    for clip in clips:
        if clip.name in heard:
            rate.add(clip.words, heard[clip.name].text)
    return rate


@pytest.mark.shows("V30")
def test_free_speech_by_the_language_model(heard: dict[str, Transcript]) -> None:
    read, short = rate_of(debian_clips("librivox"), heard), rate_of([*debian_clips("cards"), go_forward()], heard)
    figure("pocketsphinx, language model, clips read aloud", str(read))
    figure("pocketsphinx, language model, short clips", str(short))
    assert read.words > 15
    assert short.words >= 12
    assert read.rate < 0.4
    assert short.rate < 0.15


@pytest.mark.shows("V30")
def test_commands_by_their_grammar(free_speech: dict[str, tuple[Heard, Heard]]) -> None:
    cards = debian_clips("cards")
    heard = by_grammar(CARDS, cards, free_speech)
    assert len(heard) >= 3
    assert [each for each in heard.values() if each.confidence != "normal"] == []
    rate = rate_of(cards, heard)
    figure(f"pocketsphinx, card grammar, {len(heard)} clips", str(rate))
    assert rate.rate < 0.1


@pytest.mark.shows("V30", "V11")
def test_no_human_clip_is_made_into_a_command(heard: dict[str, Transcript]) -> None:
    assert len(heard) >= 5
    believed = [each.text for each in heard.values() if each.confidence == "normal"]
    figure(f"pocketsphinx, {len(heard)} clips made into household commands", str(len(believed)))
    assert believed == []


@pytest.mark.shows("V5", "V7")
def test_every_clip_is_one_turn_or_more_and_none_of_it_is_lost() -> None:
    detector = load_detector()
    kept = speech = 0.0
    for clip in all_debian_clips():
        turns = turns_of(detector, np.concatenate([silence(1.0), clip.samples, silence(1.5)]))
        assert turns, clip.name
        kept += sum(turn.ended_at - turn.started_at for turn in turns)
        speech += loud_seconds(clip.samples)
    figure("voice detector, seconds in turns for each second that is loud", f"{kept / speech:.2f}")
    assert 0.9 < kept / speech < 1.6


def turns_of(detector: VoiceDetector, samples: Samples) -> list[Committed]:
    detector.reset()
    endpointer = Endpointer()
    signals = [
        signal
        for number, at in enumerate(range(0, len(samples) - CHUNK_SAMPLES + 1, CHUNK_SAMPLES))
        for signal in endpointer.process(detector.probability(samples[at : at + CHUNK_SAMPLES]), number * CHUNK_SECONDS)
    ]
    return [signal for signal in signals if isinstance(signal, Committed)]


def loud_seconds(samples: Samples) -> float:
    """Return how much of a clip is within 30 dB of its loudest tenth of a second."""
    frames = samples[: len(samples) // 1600 * 1600].reshape(-1, 1600).astype(np.float64)
    power = np.sqrt(np.mean(frames**2, axis=1))
    return float(np.sum(power > power.max() / 30)) * 1600 / SAMPLE_RATE


needs_shared = pytest.mark.skipif(not SHARED_CLIPS.is_dir(), reason=f"no further clips: {SHARED_CLIPS} is not there")


def rows(file: Path) -> Iterator[dict[str, str]]:
    with file.open(newline="") as lines:
        yield from csv.DictReader(lines, delimiter="\t")


def shared_english() -> list[Clip]:
    """Return the human clips in English that have a transcript and are not Debian's."""
    return [
        Clip(row["file"], row["transcript"], read_recording(SHARED_CLIPS / "clips" / row["file"]))
        for row in rows(SHARED_CLIPS / "clips" / "transcripts.tsv")
        if row["lang"] == "en" and row["kind"] == "human" and row["transcript"] and "pocketsphinx" not in row["file"]
    ]


@needs_shared
@pytest.mark.shows("V30")
def test_more_free_speech(free: PocketsphinxRecognizer, every_step: bool) -> None:
    clips = shared_english() if every_step else shared_english()[1::4]
    rate = rate_of(clips, {clip.name: free.transcribe(utterance(clip.samples)) for clip in clips})
    figure(f"pocketsphinx, language model, {len(clips)} clips of many speakers", str(rate))
    assert rate.rate < 0.55


@needs_shared
@pytest.mark.shows("V30")
def test_a_clips_own_sentence_among_the_commands_is_believed(every_step: bool) -> None:
    clips = [clip for clip in shared_english() if len(clip.samples) < 6 * SAMPLE_RATE]
    recognizer = PocketsphinxRecognizer(
        {**COMMANDS, "command": [*COMMANDS["command"], *(" ".join(plain(clip.words)) for clip in clips)]}
    )
    clips = clips[:: 1 if every_step else 3]
    transcripts = [recognizer.transcribe(utterance(clip.samples)) for clip in clips]
    right = [
        each.confidence == "normal" and plain(each.text) == plain(clip.words)
        for clip, each in zip(clips, transcripts, strict=True)
    ]
    figure("pocketsphinx, clips understood as the command they are", f"{sum(right)} of {len(clips)}")
    assert sum(right) >= 0.75 * len(clips)


@needs_shared
@pytest.mark.shows("V30")
def test_orders_are_no_household_commands(free: PocketsphinxRecognizer, every_step: bool) -> None:
    files = sorted((SHARED_CLIPS / "orders").glob("*.flac"))[: 4 if every_step else 1]
    transcripts = [free.transcribe(utterance(read_recording(file))) for file in files]
    assert [each.text for each in transcripts if each.confidence == "normal"] == []


@needs_shared
@pytest.mark.shows("V5")
def test_a_minute_of_conversation_is_cut_into_turns() -> None:
    samples = read_recording(SHARED_CLIPS / "clips" / "silero-vad__test.wav")
    turns = turns_of(load_detector(), np.concatenate([samples, silence(1.5)]))
    spoken = sum(turn.speech_seconds for turn in turns)
    figure("voice detector, a minute of conversation", f"{len(turns)} turns, {spoken:.1f} s of speech")
    assert len(turns) >= 3
    assert 10 < spoken < 60


def test_transcripts_are_read_as_they_are_written() -> None:
    cards = debian_clips("cards")
    assert [clip.words for clip in cards][:2] == ["ten of clubs", "four queen of clubs"]
    assert all(re.fullmatch(r"[a-z ]+", clip.words) for clip in all_debian_clips())
