"""The energy gate: what it lets the voice detector be asked for, on real speech in noise, and what it learns."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import pytest

from audio.capture.recording import read_recording
from audio.interfaces import VoiceDetector
from audio.pcm import CHUNK_SAMPLES, CHUNK_SECONDS, SAMPLE_RATE, Samples, rms_dbfs
from audio.turns.endpointer import Committed, Endpointer, Signal
from audio.turns.silero import load_silero
from audio.turns.vad import (
    MOST_RAISED_DB,
    PRE_ROLL_CHUNKS,
    RAISED_DBFS,
    EnergyGate,
    RaisedDetector,
    levels_of,
    load_detector,
)
from tests.audio.spoken import SHARED_CLIPS, Clip, debian_clips, go_forward, silence, trimmed
from tests.figures import figure
from tests.room import sounds
from tests.room.acoustics import Sound
from tests.sample import sample

SPEECH = 0.5


SPEECH_RMS = 1000.0
"""Of the clips as mixed in."""

SPEECH_RMS_DBFS = 20 * math.log10(SPEECH_RMS / 32768)

SNR_DB = 0.0
"""The noise is as loud as they are: the hardest that the detector alone still hears nearly all in."""

NOISES: dict[str, Callable[[float], Sound]] = {
    "white noise": sounds.white,
    "pink noise": sounds.pink,
    "mains hum": sounds.hum,
    "a vacuum cleaner": sounds.vacuum_cleaner,
    "music": sounds.music,
}


@dataclass
class Scripted(VoiceDetector):
    """A detector that calls speech what is above a level, and keeps what it was asked."""

    speech_above: float = 1e9
    asked: list[Samples] = field(default_factory=list)
    resets: int = 0

    def probability(self, samples: Samples) -> float:
        self.asked.append(samples)
        return float(np.abs(samples).max() > self.speech_above)

    def reset(self) -> None:
        self.resets += 1


def chunks(levels: str, loud: float = 2000.0, seed: int = 1) -> list[Samples]:
    """Return a chunk a character: `.` the room's background, `#` speech, `-` a background 20 dB louder, `0` zeros."""
    random = np.random.default_rng(seed)
    amplitudes = {".": 20.0, "-": 200.0, "#": loud, "0": 0.0}
    return [random.normal(0.0, amplitudes[each], CHUNK_SAMPLES).astype(np.int16) for each in levels]


def gate_over(detector: Scripted) -> EnergyGate:
    """Return a gate that knows the room, and closed."""
    gate = EnergyGate(detector)
    for chunk in chunks("." * 150):
        gate.probability(chunk)
    assert not gate.is_open
    detector.asked.clear()
    return gate


def test_every_chunk_is_asked_for_until_the_background_is_known() -> None:
    detector = Scripted()
    gate = EnergyGate(detector)
    for chunk in chunks("." * 20):
        gate.probability(chunk)
    assert gate.is_open
    assert len(detector.asked) == gate.asked == 20


@pytest.mark.shows("V5", "H9")
def test_the_background_wakes_nobody() -> None:
    detector = Scripted()
    gate = gate_over(detector)
    assert [gate.probability(chunk) for chunk in chunks("." * 20, seed=2)] == [0.0] * 20
    assert detector.asked == []


@pytest.mark.shows("V5")
def test_what_stands_out_is_answered_by_the_detector_which_is_told_what_came_before() -> None:
    detector = Scripted(speech_above=1000.0)
    gate = gate_over(detector)
    before, speech = chunks("." * 20, seed=2), chunks("#")[0]
    for chunk in before:
        gate.probability(chunk)
    assert gate.probability(speech) == 1.0
    assert gate.is_open
    assert [id(each) for each in detector.asked] == [id(each) for each in [*before[-PRE_ROLL_CHUNKS:], speech]]


def test_the_gate_stays_open_over_the_gaps_between_words() -> None:
    detector = Scripted(speech_above=1000.0)
    gate = gate_over(detector)
    for chunk in chunks("####....####...."):
        gate.probability(chunk)
        assert gate.is_open
    assert len(detector.asked) == 16 + PRE_ROLL_CHUNKS


def test_a_weak_voice_opens_that_stands_out_in_no_single_chunk() -> None:
    detector = Scripted()
    gate = gate_over(detector)
    weak = chunks("#" * 40, loud=20.0 * 10 ** (1.45 / 20), seed=3)
    opened = next(number for number, chunk in enumerate(weak) if gate.probability(chunk) or gate.is_open)
    assert opened < 12


def test_a_background_that_became_louder_is_learnt() -> None:
    detector = Scripted()
    gate = gate_over(detector)
    for chunk in chunks("-" * 400):
        gate.probability(chunk)
    assert not gate.is_open
    assert 10 < len(detector.asked) < 300


def test_in_a_room_that_became_quiet_a_weaker_voice_opens() -> None:
    detector = Scripted()
    gate = EnergyGate(detector)
    for chunk in chunks("-" * 150 + "." * 150):
        gate.probability(chunk)
    gate.probability(chunks("#", loud=60.0)[0])
    assert gate.is_open


def test_speech_is_never_learnt_as_background() -> None:
    detector = Scripted(speech_above=1000.0)
    gate = gate_over(detector)
    assert all(gate.probability(chunk) == 1.0 for chunk in chunks("#" * 400))


def test_digital_silence_closes_and_the_faintest_sound_opens() -> None:
    detector = Scripted()
    gate = EnergyGate(detector)
    for chunk in chunks("0" * 100):
        gate.probability(chunk)
    assert not gate.is_open
    gate.probability(chunks(".")[0])
    assert gate.is_open


def test_a_reset_forgets_the_room_and_resets_the_detector() -> None:
    detector = Scripted()
    gate = gate_over(detector)
    gate.reset()
    assert (gate.is_open, detector.resets) == (True, 1)
    gate.probability(chunks(".")[0])
    assert len(detector.asked) == 1


def test_the_bands_tell_rumble_from_voice_from_hiss() -> None:
    at = np.arange(CHUNK_SAMPLES) / SAMPLE_RATE

    def tone(hertz: float) -> tuple[float, float, float]:
        return levels_of((1000.0 * np.sin(2 * np.pi * hertz * at)).astype(np.int16))

    rumble, voice, hiss = tone(62.5), tone(1000.0), tone(6000.0)
    assert rumble[0] > rumble[1] + 15.0 > rumble[2] + 15.0
    assert voice[1] > voice[2]
    assert hiss[2] > max(hiss[:2]) + 3.0
    assert levels_of(silence(CHUNK_SECONDS)) == (0.0, 0.0, 0.0)


def test_the_detector_that_the_ears_get_has_the_gate() -> None:
    detector = load_detector()
    assert isinstance(detector, EnergyGate)
    for _ in range(100):
        assert detector.probability(silence(CHUNK_SECONDS)) < 0.5
    assert detector.asked < 90


@cache
def clips() -> list[Clip]:
    """Return Debian's human clips, where the project is developed half of the others too; four seconds of each."""
    files = sorted((SHARED_CLIPS / "clips").glob("*.*")) if SHARED_CLIPS.is_dir() else []
    wanted = [file for file in files if re.fullmatch(r"(?!silero-vad|pocketsphinx|whisper__).*\.(wav|flac)", file.name)]
    shared = [Clip(file.name, "", read_recording(file)) for file in wanted[::2]]
    human = [*debian_clips("cards"), *debian_clips("librivox"), go_forward(), *shared]
    return [Clip(clip.name, clip.words, trimmed(clip.samples)[: 4 * SAMPLE_RATE]) for clip in human]


def mixed(noise: Callable[[float], Sound], snr: float) -> tuple[Samples, list[tuple[float, float]]]:
    """Return the clips with seconds of noise between them, and where (s) each was mixed in."""
    random, pieces, marks = np.random.default_rng(4), [], []
    length = 0
    for clip in clips():
        gap = random.uniform(3.0, 4.0)
        level = float(np.sqrt(np.mean(clip.samples.astype(np.float64) ** 2)))
        begins = length / SAMPLE_RATE + gap
        pieces += [np.zeros(round(gap * SAMPLE_RATE)), clip.samples * (SPEECH_RMS / level)]
        length = sum(map(len, pieces))
        marks.append((begins, length / SAMPLE_RATE))
    pieces.append(np.zeros(2 * SAMPLE_RATE))
    speech = np.concatenate(pieces)
    whole = math.ceil(len(speech) / SAMPLE_RATE)  # a Fourier transform of whole seconds takes a tenth of the time
    background = noise(whole)[: len(speech)].astype(np.float64)
    background *= SPEECH_RMS * 10 ** (-snr / 20) / np.sqrt(np.mean(background**2))
    return np.clip(speech + background, -32768, 32767).astype(np.int16), marks


def turns(detector: VoiceDetector, sound: Samples) -> list[Committed]:
    """Return what the endpointer commits over a detector."""
    detector.reset()
    endpointer = Endpointer()
    found: list[Signal] = []
    for number, start in enumerate(range(0, len(sound) - CHUNK_SAMPLES + 1, CHUNK_SAMPLES)):
        chunk = sound[start : start + CHUNK_SAMPLES]
        found += endpointer.process(detector.probability(chunk), number * CHUNK_SECONDS)
    found += endpointer.flush(len(sound) / SAMPLE_RATE)
    return [each for each in found if isinstance(each, Committed)]


def spoken_seconds(detector: VoiceDetector, sound: Samples) -> float:
    """Return the seconds of speech in what the endpointer commits."""
    return sum(turn.speech_seconds for turn in turns(detector, sound))


def onset_in(found: list[Committed], begins: float, ends: float) -> float | None:
    """Return when (s) the first turn began that lies in a stretch; None when there is none."""
    return next((each.started_at for each in found if each.started_at < ends and each.ended_at > begins), None)


@pytest.mark.shows("V5", "V30")
def test_no_utterance_is_lost_and_no_onset_is_later_by_more_than_a_chunk(every_step: bool) -> None:
    for name in sample([*NOISES], 3, whole=every_step):
        nothing_is_lost_in(name)


def nothing_is_lost_in(name: str) -> None:
    sound, marks = mixed(NOISES[name], SNR_DB)
    gate = EnergyGate(load_silero())
    bare, gated = turns(load_silero(), sound), turns(gate, sound)
    wanted = [(mark, onset_in(bare, *mark)) for mark in marks]
    heard = [(mark, onset) for mark, onset in wanted if onset is not None]
    lost = [mark for mark, _ in heard if onset_in(gated, *mark) is None]
    late = [(onset_in(gated, *mark) or 0.0) - onset for mark, onset in heard if mark not in lost]
    share = gate.asked / (len(sound) // CHUNK_SAMPLES)
    figure(
        f"energy gate, {name} at {SNR_DB:.0f} dB",
        f"{len(lost)} of {len(heard)} lost, onset {max(late) * 1000:+.0f} ms at worst, Silero asked for {share:.0%}",
    )
    assert len(heard) > len(marks) / 1.5
    assert lost == []
    assert max(late) < CHUNK_SECONDS + 1e-6


@pytest.mark.shows("V5", "H9")
@pytest.mark.parametrize("name", [name for name in NOISES if name != "music"])
def test_a_steady_noise_alone_seldom_reaches_the_detector(name: str) -> None:
    noise = (NOISES[name](40.0) * 3000.0).astype(np.int16)
    gate = EnergyGate(load_silero())
    for start in range(0, len(noise) - CHUNK_SAMPLES + 1, CHUNK_SAMPLES):
        gate.probability(noise[start : start + CHUNK_SAMPLES])
    share = gate.asked / (len(noise) // CHUNK_SAMPLES)
    figure(f"energy gate, {name} alone", f"Silero asked for {share:.0%} of the chunks")
    assert share < 0.35


def at(dbfs: float, seed: int = 1) -> Samples:
    """Return a chunk of noise at a level."""
    return np.random.default_rng(seed).normal(0.0, 32768 * 10 ** (dbfs / 20), CHUNK_SAMPLES).round().astype(np.int16)


def raised_by(detector: RaisedDetector, behind: Scripted, samples: Samples) -> float:
    """Return by how many decibels a chunk is louder when it reaches the detector behind."""
    detector.probability(samples)
    return rms_dbfs(behind.asked[-1]) - rms_dbfs(samples)


def spoken_to(dbfs: float, is_plain: Callable[[], bool] = lambda: True) -> tuple[RaisedDetector, Scripted]:
    """Return one behind which all is speech, and that heard some at a level."""
    behind = Scripted(speech_above=0.0)
    detector = RaisedDetector(behind, is_plain)
    detector.probability(at(dbfs))
    return detector, behind


@pytest.mark.shows("V5")
def test_where_people_are_heard_weakly_they_are_raised_and_what_is_loud_stays_byte_for_byte() -> None:
    detector, behind = spoken_to(-50.0)
    gain = RAISED_DBFS - rms_dbfs(at(-50.0))
    assert raised_by(detector, behind, at(-50.0)) == pytest.approx(gain, abs=0.2)
    assert raised_by(detector, behind, at(-60.0)) == pytest.approx(gain, abs=0.5), "speech keeps its rise and fall"
    assert rms_dbfs(behind.asked[-1]) < RAISED_DBFS
    loud = at(-20.0)
    detector.probability(loud)
    assert behind.asked[-1] is loud


def test_a_room_is_not_raised_in_which_nobody_spoke_and_no_microphone_s_own_noise_far() -> None:
    behind = Scripted()
    room = RaisedDetector(behind)
    assert [raised_by(room, behind, at(-60.0, seed)) for seed in range(100)] == [0.0] * 100
    detector, behind = spoken_to(-75.0)
    assert raised_by(detector, behind, at(-80.0)) == pytest.approx(MOST_RAISED_DB, abs=1.0)


def test_after_somebody_near_one_far_away_is_raised_once_he_has_spoken_for_seconds() -> None:
    detector, behind = spoken_to(-20.0)
    gains = [raised_by(detector, behind, at(-50.0, seed)) for seed in range(round(10 / CHUNK_SECONDS))]
    assert gains[round(3 / CHUNK_SECONDS)] == pytest.approx(0.0)
    assert gains[-1] > 8.0


def test_what_may_hold_its_own_voice_is_not_raised() -> None:
    plain = [False, True]
    detector, behind = spoken_to(-50.0, lambda: plain.pop(0))
    assert raised_by(detector, behind, at(-50.0)) == pytest.approx(0.0)
    assert raised_by(detector, behind, at(-50.0)) > 8.0


def test_how_loud_people_are_goes_along_with_the_state_and_one_of_before_is_read() -> None:
    first, _ = spoken_to(-50.0)
    behind = Scripted()
    second = RaisedDetector(behind)
    second.recall({"loudest": first.state()["loudest"]})
    assert raised_by(second, behind, at(-50.0)) > 8.0
    second.recall({})
    assert raised_by(second, behind, at(-50.0)) == 0.0


@pytest.mark.shows("V5", "V30")
def test_a_microphone_turned_low_hears_as_much_as_another() -> None:
    """Speech and room 30 dB weaker than the clips; Silero alone finds less of it."""
    sound, marks = mixed(sounds.pink, 20.0)
    low = np.rint(sound * 10 ** (-30 / 20)).astype(np.int16)
    usual = spoken_seconds(load_detector(), sound)
    found = {"raised": spoken_seconds(load_detector(), low), "alone": spoken_seconds(EnergyGate(load_silero()), low)}
    figure(
        f"{len(marks)} clips at {SPEECH_RMS_DBFS - 30:.0f} dBFS",
        ", ".join(f"{name} {seconds / usual:.0%} of the speech found" for name, seconds in found.items()),
    )
    assert found["alone"] < 0.97 * usual
    assert found["raised"] > 0.98 * usual
