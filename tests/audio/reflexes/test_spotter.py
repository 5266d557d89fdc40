"""Reflex words in sound: what is cut out for them, and what the real search finds in real and in made voices."""

import asyncio
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path

import numpy as np
import pytest

from audio.capture.recording import read_recording
from audio.echo.duplex import HalfDuplex
from audio.echo.guard import CancellingGuard
from audio.echo.reference import PlayedReference
from audio.errors import RecognitionFailed
from audio.pcm import CHUNK_SAMPLES, CHUNK_SECONDS, AudioChunk, Samples
from audio.recognizer.apart import ApartKeywords
from audio.recognizer.keyword_decoder import exponent_of
from audio.reflexes.cutting import (
    ALONE,
    LONGEST_CHUNKS,
    OVER_ECHO,
    PRE_ROLL_CHUNKS,
    SOFT_END_CHUNKS,
    Stretch,
    StretchCutter,
)
from audio.reflexes.keyword_search import THRESHOLDS, KeywordSearch, Spotted, overlap
from audio.reflexes.spotter import MOST_WAITING, Spotter
from audio.reflexes.words import asked
from audio.turns.vad import load_detector
from tests.audio.spoken import SHARED_CLIPS, debian_clips, said, silence, trimmed
from tests.figures import figure
from tests.sample import sample

FLITE = ("slt", "awb", "rms", "kal")


def chunk(number: int, samples: Samples | None = None) -> AudioChunk:
    sound = np.full(CHUNK_SAMPLES, number, np.int16) if samples is None else samples
    return AudioChunk(sound, 100.0 + number * CHUNK_SECONDS)


def cut(pattern: str) -> list[Stretch]:
    """Cut a pattern: `#` is speech, `.` is none, `c` is covered by its own voice."""
    cutter = StretchCutter()
    found = (
        cutter.process(chunk(number), 0.9 if sign == "#" else 0.1, covered=sign == "c")
        for number, sign in enumerate(pattern)
    )
    return [stretch for stretch in found if stretch is not None]


def stretches(sound: Samples, soft_end: int = SOFT_END_CHUNKS) -> Iterator[Stretch]:
    """Yield what the cutter makes of a sound in a quiet room."""
    detector, cutter = load_detector(), StretchCutter()
    noise = np.random.default_rng(0).normal(0, 30, 12_000).astype(np.int16)
    whole = np.concatenate([noise, sound, noise])
    for number in range(len(whole) // CHUNK_SAMPLES):
        samples = whole[number * CHUNK_SAMPLES : (number + 1) * CHUNK_SAMPLES]
        if found := cutter.process(chunk(number, samples), detector.probability(samples), covered=False):
            yield found


@pytest.fixture(scope="module")
def search() -> KeywordSearch:
    found = KeywordSearch()
    found.warm()
    return found


def test_what_was_never_surely_speech_is_no_word() -> None:
    cutter = StretchCutter()
    door = [0.1, 0.53, 0.78, 0.76, 0.72, 0.6, *[0.1] * SOFT_END_CHUNKS]
    word = [0.1, 0.53, 0.78, 0.96, 0.72, 0.6, *[0.1] * SOFT_END_CHUNKS]
    cut_out = [cutter.process(chunk(number), p, covered=False) for number, p in enumerate([*door, *word])]
    assert [each is not None for each in cut_out].count(True) == 1
    assert cut_out[-1] is not None


@pytest.mark.shows("V16")
def test_a_word_between_two_silences_is_cut_with_what_was_before_it() -> None:
    (stretch,) = cut("." * 20 + "#" * 10 + "." * 20)
    assert stretch.started_at == pytest.approx(100 + 20 * CHUNK_SECONDS)
    assert stretch.ended_at == pytest.approx(100 + 30 * CHUNK_SECONDS)
    assert stretch.first == pytest.approx(PRE_ROLL_CHUNKS * CHUNK_SECONDS)
    numbers = stretch.samples[::CHUNK_SAMPLES]
    assert list(numbers) == list(range(20 - PRE_ROLL_CHUNKS, 30 + SOFT_END_CHUNKS))


def test_it_is_cut_at_the_soft_end_and_not_later() -> None:
    assert cut("." * 20 + "#" * 10 + "." * (SOFT_END_CHUNKS - 1)) == []
    assert len(cut("." * 20 + "#" * 10 + "." * SOFT_END_CHUNKS)) == 1


@pytest.mark.shows("V16")
def test_a_sentence_is_too_long_to_be_a_reflex_and_nothing_of_it_is_kept() -> None:
    assert cut("." * 20 + "#" * (LONGEST_CHUNKS + 1) + "." * 20) == []
    (after,) = cut("." * 20 + "#" * 200 + "." * 20 + "#" * 9 + "." * 20)
    assert after.ended_at - after.started_at == pytest.approx(9 * CHUNK_SECONDS)


def test_a_short_pause_does_not_make_two_words_of_one() -> None:
    (stretch,) = cut("." * 20 + "###..###" + "." * 20)
    assert stretch.ended_at - stretch.started_at == pytest.approx(8 * CHUNK_SECONDS)


@pytest.mark.shows("V16", "V4")
def test_what_its_own_voice_covers_is_no_word_and_the_pause_after_it_is_listened_to() -> None:
    assert cut("." * 20 + "c" * 12 + "." * 20) == []
    assert cut("." * 20 + "#" * 5 + "c" * 5 + "." * 20) == []
    (stretch,) = cut("c" * 30 + "." * 3 + "#" * 10 + "." * 20)
    assert stretch.started_at == pytest.approx(100 + 33 * CHUNK_SECONDS)
    assert stretch.samples[0] == 30, "nothing of its own in front of it"


@pytest.mark.shows("V16")
def test_the_words_are_found_in_four_voices(search: KeywordSearch, tmp_path: Path, every_step: bool) -> None:
    """`stop`, which silences it, in all of them; a sample of the others, each in two."""
    right: Counter[str] = Counter()
    wrong: Counter[tuple[str, str]] = Counter()
    total = 0
    others = [(words, FLITE[number % 2 :: 2]) for number, words in enumerate(THRESHOLDS) if words != "stop"]
    for words, voices in [("stop", FLITE), *sample(others, 20, whole=every_step)]:
        for voice in voices:
            reflexes = {
                found.reflex for each in stretches(said(words, voice, tmp_path)) if (found := search.find(each))
            }
            total += 1
            right[words] += reflexes == {asked(words)}
            wrong.update((words, reflex) for reflex in reflexes if reflex != asked(words))
    figure("reflex words spotted, flite's four voices", f"{right.total()} of {total}, as another one {wrong.total()}")
    assert right.total() >= 0.75 * total
    assert right["stop"] >= 3
    assert wrong.total() <= 4, wrong


@pytest.mark.shows("V16")
def test_nothing_is_found_in_people_who_say_something_else(search: KeywordSearch) -> None:
    sounds = [clip.samples for folder in ("cards", "librivox") for clip in debian_clips(folder)]
    sounds += [read_recording(file) for file in sorted(SHARED_CLIPS.glob("*/*.[wf][al][va]*"))]
    pieces = [piece for sound in sounds for piece in stretches(sound)]
    found = [spotted for piece in pieces if (spotted := search.find(piece))]
    seconds = sum(len(sound) for sound in sounds) / 16_000
    figure("reflex words spotted in human speech", f"{len(found)} in {len(pieces)} short pieces of {seconds:.0f} s")
    assert len(pieces) >= 5
    assert found == []


@pytest.mark.shows("V16")
@pytest.mark.parametrize(
    "sentence", ["stop by the shop on your way home", "wait for the bus", "the music is louder now"]
)
def test_a_word_inside_a_sentence_is_not_spotted(search: KeywordSearch, tmp_path: Path, sentence: str) -> None:
    for voice in FLITE:
        assert not [found for each in stretches(said(sentence, voice, tmp_path)) if (found := search.find(each))]


@pytest.mark.shows("V16")
def test_in_a_quiet_room_a_stop_needs_less_than_over_its_own_voice(search: KeywordSearch, tmp_path: Path) -> None:
    """Noise stands for residual echo. Alone a wrong one does little; over its own voice it silences it."""
    word, rng, found = trimmed(said("stop", "slt", tmp_path)), np.random.default_rng(1), []
    sound = np.concatenate([silence(0.3), word, silence(0.2)])
    for level in (0, 200, 400, 600, 800, 1200, 1600, 2400):
        noisy = (sound + rng.normal(0, level, len(sound))).clip(-32768, 32767).astype(np.int16)
        stretch = Stretch(noisy, 0.3, 0.3 + len(word) / 16_000, 0.3)
        found.append((search.find(stretch) is not None, search.find(stretch, over_own_voice=True) is not None))
    assert found[0] == (True, True)
    assert all(alone for alone, over_own_voice in found if over_own_voice)
    assert sum(alone for alone, _ in found) > sum(over_own_voice for _, over_own_voice in found)


@pytest.mark.shows("V16")
def test_a_word_is_found_where_the_detector_hears_speech_long_after_it(search: KeywordSearch, tmp_path: Path) -> None:
    """Breath and noise behind a word: it covers less than half of what is called speech."""
    found = []
    for voice in FLITE:
        word, rng = trimmed(said("stop", voice, tmp_path)), np.random.default_rng(2)
        seconds = 1.3 * len(word) / 16_000
        sound = np.concatenate([silence(0.5), word, silence(seconds), silence(0.2)])
        noisy = (sound + rng.normal(0, 20, len(sound))).clip(-32768, 32767).astype(np.int16)
        found.append(search.find(Stretch(noisy, 0.5, 0.5 + min(1.1, len(word) / 16_000 + seconds), 0.5)))
    assert [each.reflex for each in found if each].count("stop") >= 2


class NoDecoder(ApartKeywords):
    """What there is where pocketsphinx has no wheel."""

    def warm(self) -> None:
        raise RecognitionFailed("pocketsphinx is not installed here")


@pytest.mark.shows("V16")
def test_without_pocketsphinx_the_network_spots_what_it_is_sure_of(tmp_path: Path) -> None:
    search = KeywordSearch(decoder=NoDecoder(()))
    search.warm()
    for word in ("stop", "wait"):
        heard = [search.find(each) for voice in FLITE for each in stretches(said(word, voice, tmp_path))]
        assert {each.reflex for each in heard if each} == {word}
    for words in ("seven", "music", "stop by the shop on your way home"):
        assert not any(search.find(each) for each in stretches(said(words, "slt", tmp_path)))


def test_over_its_own_voice_a_stretch_begins_sooner() -> None:
    """The canceller takes part of who speaks at the same time."""
    found = {}
    for bars in (ALONE, OVER_ECHO):
        cutter = StretchCutter()
        chances = [*[0.05] * 20, 0.2, 0.35, 0.45, 0.4, 0.25, *[0.05] * SOFT_END_CHUNKS]
        cut_out = [cutter.process(chunk(n), p, covered=False, bars=bars) for n, p in enumerate(chances)]
        found[bars] = [each for each in cut_out if each]
    assert found[ALONE] == []
    assert len(found[OVER_ECHO]) == 1


def test_a_reflex_that_is_switched_off_is_not_listened_for(tmp_path: Path) -> None:
    search = KeywordSearch(("wait",))
    assert not [found for each in stretches(said("stop", "slt", tmp_path)) if (found := search.find(each))]
    assert [found for each in stretches(said("wait", "slt", tmp_path)) if (found := search.find(each))]


class FailsOnce(KeywordSearch):
    """A search whose first stretch is one that the decoder refuses."""

    has_failed = False

    def find(self, stretch: Stretch, *, over_own_voice: bool = False, without: Collection[str] = ()) -> Spotted | None:
        if not self.has_failed:
            self.has_failed = True
            raise RecognitionFailed("the keyword search failed: once")
        return super().find(stretch, over_own_voice=over_own_voice, without=without)


async def test_a_stretch_that_the_decoder_refuses_is_the_only_one_that_is_lost(tmp_path: Path) -> None:
    search = FailsOnce()
    sound = np.concatenate([*[silence(0.5), said("stop", "slt", tmp_path)] * 2, silence(0.5)])
    found = await first_spotted(search, sound)
    assert search.has_failed
    assert found.started_at > 101


def nobody() -> CancellingGuard:
    """Return what is under its voice where nothing is played."""
    return CancellingGuard(PlayedReference(), HalfDuplex(lambda: 0.0))


async def first_spotted(search: KeywordSearch, sound: Samples) -> Spotted:
    spotted: asyncio.Queue[Spotted] = asyncio.Queue()
    spotter = Spotter(search, spotted.put_nowait, lambda: False, nobody())
    async with asyncio.TaskGroup() as group:
        running = group.create_task(spotter.run())
        await spotter.ready.wait()
        listen(spotter, sound)
        found = await spotted.get()
        running.cancel()
    return found


def listen(spotter: Spotter, sound: Samples) -> None:
    detector = load_detector()
    for number in range(len(sound) // CHUNK_SAMPLES):
        samples = sound[number * CHUNK_SAMPLES : (number + 1) * CHUNK_SAMPLES]
        spotter(chunk(number, samples), detector.probability(samples), False)


async def test_the_loop_tells_what_was_spotted_and_the_chunk_path_waits_for_nothing(tmp_path: Path) -> None:
    sound = np.concatenate([silence(0.5), said("stop", "slt", tmp_path), silence(0.5)])
    found = await first_spotted(KeywordSearch(), sound)
    assert found.reflex == "stop"
    assert found.started_at < found.ended_at < 100 + len(sound) / 16_000


async def test_a_slow_decoder_costs_the_oldest_and_forgetting_leaves_nothing() -> None:
    spotter = Spotter(KeywordSearch(), lambda _: None, lambda: False, nobody())
    spotter.ready.set()
    for number, sign in enumerate(("." * 12 + "#" * 5 + "." * 8) * (MOST_WAITING + 1)):
        spotter(chunk(number), 0.9 if sign == "#" else 0.1, False)
    assert spotter.dropped == 1
    assert spotter._waiting.qsize() == MOST_WAITING
    spotter.forget()
    assert spotter._waiting.empty()


async def test_nothing_is_collected_before_the_model_is_loaded() -> None:
    spotter = Spotter(KeywordSearch(), lambda _: None, lambda: False, nobody())
    for number, sign in enumerate("." * 12 + "#" * 5 + "." * 8):
        spotter(chunk(number), 0.9 if sign == "#" else 0.1, False)
    assert spotter._waiting.empty()


def test_exponents_and_overlaps() -> None:
    assert exponent_of(1.0001**-1500) == pytest.approx(0.0)
    assert exponent_of(0.9) > exponent_of(0.8)
    assert overlap((0, 2), (1, 5)) == 1
    assert overlap((0, 1), (2, 5)) == 0
