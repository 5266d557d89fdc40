"""Whoever is noticed under its voice: the sound that is cut around that moment, and "stop" in it, in a real room."""

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

from audio.echo.canceller import has_canceller
from audio.errors import RecognitionFailed
from audio.pcm import CHUNK_SAMPLES, CHUNK_SECONDS, SAMPLE_RATE, AudioChunk, Samples
from audio.reflexes.cutting import AFTER_CHUNKS, BEFORE_CHUNKS, Noticed, NoticedCutter, Stretch
from audio.reflexes.keyword_search import KeywordSearch, Spotted
from audio.reflexes.spotter import Spotter
from tests.audio.reflexes.test_spotter import FLITE
from tests.audio.spoken import said
from tests.audio.talked_over import REPLY, TalkedOver
from tests.figures import figure


@dataclass
class Scripted:
    """What sounds under its voice, by a script."""

    hears_another: bool = False

    def unexplained(self, seconds: float) -> Samples:
        return np.full(round(seconds * SAMPLE_RATE), 7, np.int16)


def chunk(number: int) -> AudioChunk:
    return AudioChunk(np.full(CHUNK_SAMPLES, number, np.int16), 100.0 + number * CHUNK_SECONDS)


def cut(pattern: str) -> tuple[list[Noticed], NoticedCutter]:
    """Cut a pattern: somebody is noticed in `!`, nobody in `.`; `c` is covered by its own voice."""
    below = Scripted()
    cutter, found = NoticedCutter(below), []
    for number, sign in enumerate(pattern):
        below.hears_another = sign == "!"
        if (noticed := cutter.process(chunk(number), covered=sign == "c")) is not None:
            found.append(noticed)
    return found, cutter


def test_the_sound_around_the_moment_is_cut_when_a_word_would_be_over() -> None:
    (found,), _ = cut("." * 40 + "!!!" + "." * (AFTER_CHUNKS - 2))
    assert found.at == chunk(40).ended_at
    assert list(found.cleaned[::CHUNK_SAMPLES]) == list(range(41 - BEFORE_CHUNKS, 41 + AFTER_CHUNKS))
    assert len(found.unexplained) == len(found.cleaned)
    assert found.before_end == pytest.approx(chunk(40 + AFTER_CHUNKS).ended_at - found.at)
    assert cut("." * 40 + "!!!" + "." * (AFTER_CHUNKS - 3))[0] == []


def test_soon_after_the_start_it_is_shorter() -> None:
    (found,), _ = cut("..!" + "." * AFTER_CHUNKS)
    assert len(found.cleaned) == (3 + AFTER_CHUNKS) * CHUNK_SAMPLES


def test_who_is_noticed_again_meanwhile_is_the_same_and_later_another() -> None:
    assert len(cut("!" + ".!" * (AFTER_CHUNKS // 2))[0]) == 1
    assert len(cut("!" + "." * AFTER_CHUNKS + "!" + "." * AFTER_CHUNKS)[0]) == 2


def test_what_its_own_voice_covers_is_part_of_none() -> None:
    assert cut("." * 40 + "!" + "." * 10 + "c" + "." * 60)[0] == []


def test_in_silence_nothing_is_kept_but_what_is_under_way_is_heard_to_its_end() -> None:
    below = Scripted()
    cutter, found = NoticedCutter(below), list[Noticed | None]()
    for number in range(120):
        below.hears_another = number == 40
        found.append(cutter.process(chunk(number), covered=False, sounds=20 <= number < 45))
    (noticed,) = (each for each in found if each is not None)
    assert list(noticed.cleaned[::CHUNK_SAMPLES]) == list(range(20, 41 + AFTER_CHUNKS))
    assert not cutter._chunks


def test_it_says_which_speech_it_holds() -> None:
    _, cutter = cut("." * 40 + "!" + "." * AFTER_CHUNKS)
    held = [cutter.holds(chunk(number).started_at) for number in (0, 30, 45, 60, 100)]
    assert held == [False, True, True, True, False]
    cutter.drop()
    assert not cutter.holds(chunk(45).started_at)


class Asked(KeywordSearch):
    """Keeps what is looked at, and finds nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.noticed: list[Noticed] = []
        self.without: list[tuple[str, ...]] = []

    def find(self, stretch: Stretch, *, over_own_voice: bool = False, without: Collection[str] = ()) -> Spotted | None:
        self.without.append(tuple(without))
        return None

    def find_noticed(self, noticed: Noticed) -> Spotted | None:
        self.noticed.append(noticed)
        return None


@pytest.mark.parametrize(("is_noticed", "without"), [(False, ()), (True, ("stop",))])
def test_who_is_noticed_is_looked_at_once(is_noticed: bool, without: tuple[str, ...]) -> None:
    search, below = Asked(), Scripted()
    spotter = Spotter(search, lambda _: None, lambda: True, below)
    spotter.ready.set()
    for number in range(80):
        below.hears_another = is_noticed and number == 22
        spotter(chunk(number), 0.9 if 20 <= number < 30 else 0.0, False)
    while not spotter._waiting.empty():
        spotter._waiting.get_nowait()()
    assert search.without == [without]
    assert [noticed.at for noticed in search.noticed] == [chunk(22).ended_at] * is_noticed


def noticed_in(words: list[Samples], reply: Samples) -> list[tuple[float, Noticed]]:
    """Return who is noticed in words as loud as its voice, which falls silent for each, and when each word began."""
    evening = TalkedOver(words, reply)
    cutter = NoticedCutter(evening.guard)
    found = [cutter.process(heard.chunk, covered=heard.covered) for heard in evening.heard()]
    return [(began, each) for began, _ in evening.spans for each in found if each and began - 0.1 < each.at < began + 1]


@pytest.fixture(scope="module")
def say(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Samples]:
    return partial(said, folder=tmp_path_factory.mktemp("said"))


@pytest.fixture(scope="module")
def stops(say: Callable[[str, str], Samples]) -> list[tuple[float, Noticed]]:
    return noticed_in([say("stop", voice) for voice in FLITE], say(REPLY, "slt"))


@pytest.fixture(scope="module")
def others(say: Callable[[str, str], Samples]) -> list[tuple[float, Noticed]]:
    words = [say(each, voice) for voice in FLITE for each in ("seven", "how far is the moon")]
    return noticed_in(words, say(REPLY, "slt"))


@pytest.mark.skipif(not has_canceller(), reason="the extra echo is not installed")
@pytest.mark.shows("V17", "V19")
def test_stop_is_found_under_its_voice_in_four_voices_and_in_no_other_word(
    stops: list[tuple[float, Noticed]], others: list[tuple[float, Noticed]]
) -> None:
    search = KeywordSearch()
    found = [search.find_noticed(each) for _, each in stops]
    figure("stop under its own voice, flite's four voices", f"{len(stops)} noticed, {sum(map(bool, found))} spotted")
    assert len(stops) == len(FLITE)
    assert sum(map(bool, found)) >= 2
    for (began, _), each in zip(stops, found, strict=True):
        if each is not None:
            assert (each.reflex, each.words) == ("stop", "stop")
            assert abs(each.started_at - began) < 0.5
    assert len(others) >= len(FLITE)
    assert not [each for _, each in others if search.find_noticed(each)]


@dataclass
class Verifier:
    """Tells the same of every word, and keeps how many it was asked about."""

    told: float | None
    """None for an error, NaN for nothing that it could tell."""
    asked: int = 0

    def log_probability(self, words: str, samples: Samples) -> float | None:
        assert words == "stop"
        assert abs(len(samples) / SAMPLE_RATE - (BEFORE_CHUNKS + AFTER_CHUNKS) * CHUNK_SECONDS) < 0.05
        self.asked += 1
        if self.told is None:
            raise RecognitionFailed("out of memory")
        return None if math.isnan(self.told) else self.told


@pytest.mark.skipif(not has_canceller(), reason="the extra echo is not installed")
@pytest.mark.shows("V17", "V19")
def test_a_recognizer_decides_where_the_network_is_not_sure(
    stops: list[tuple[float, Noticed]], others: list[tuple[float, Noticed]]
) -> None:
    alone = KeywordSearch()

    def found(verifier: Verifier) -> list[bool]:
        search = KeywordSearch(verifier=verifier)
        return [search.find_noticed(each) is not None for _, each in stops]

    believing, disbelieving, busy, broken = Verifier(-0.5), Verifier(-20.0), Verifier(math.nan), Verifier(None)
    assert all(found(believing))
    assert 0 < believing.asked < len(stops)  # the clearest one is not asked about
    assert sum(found(disbelieving)) == len(stops) - believing.asked
    assert found(busy) == found(broken) == [alone.find_noticed(each) is not None for _, each in stops]

    doubting = KeywordSearch(verifier=disbelieving)
    disbelieving.asked = 0
    assert not [each for _, each in others if doubting.find_noticed(each)]
    assert disbelieving.asked < len(others)  # what the network calls something else is none of its business
