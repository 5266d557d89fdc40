"""Phrases kept from before, on a real disk and through the real chain."""

import asyncio
import os
import resource
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from audio.errors import BadRecording
from audio.playback.earcons import sign
from audio.speech import SpeechAudio
from audio.tts.chain import PAUSE_SECONDS, VoiceChain
from audio.tts.tts_cache import LONGEST_SECONDS, KeepingVoice, KeptVoice, TtsCache, from_flac, to_flac
from tests.audio.mouth_fakes import Clock, ScriptedVoice, listen, note

TEXT = "I heard you."


@pytest.fixture
def phrases(tmp_path: Path) -> TtsCache:
    return TtsCache(tmp_path / "phrases")


def sound(number: int = 0) -> SpeechAudio:
    return SpeechAudio(note(440.0 + 10 * number, 0.5, 24_000), 24_000)


def test_flac_gives_back_every_sample() -> None:
    samples, rate = from_flac(to_flac(sound().samples, 24_000))

    assert rate == 24_000
    assert np.array_equal(samples, sound().samples)


@pytest.mark.parametrize("data", [b"", b"RIFF", b"fLaC" + bytes(50), bytes(1000)])
def test_what_is_no_flac_is_named(data: bytes) -> None:
    with pytest.raises(BadRecording):
        from_flac(data)


@pytest.mark.shows("V19")
def test_a_phrase_is_found_by_its_voice_language_and_words_alone(phrases: TtsCache) -> None:
    phrases.keep("edge-tts", TEXT, "en", sound())

    found = phrases.find("edge-tts", TEXT, "en")
    assert found is not None
    assert np.array_equal(found.samples, sound().samples)
    assert phrases.find("espeak-ng", TEXT, "en") is None
    assert phrases.find("edge-tts", TEXT, "zh") is None
    assert phrases.find("edge-tts", "I heard", "en") is None


def test_only_the_owner_may_look_into_the_folder(phrases: TtsCache, tmp_path: Path) -> None:
    phrases.keep("edge-tts", TEXT, "en", sound())

    folder = tmp_path / "phrases"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [file.stat().st_mode & 0o777 for file in folder.iterdir()] == [0o600]
    assert TEXT.split()[0] not in "".join(file.name for file in folder.iterdir())


def aged(folder: Path) -> None:
    """Make every file a minute older, so that the order does not hang on the clock's grain."""
    for file in folder.iterdir():
        was = file.stat().st_mtime
        os.utime(file, (was - 60, was - 60))


def test_of_too_many_the_one_not_said_for_longest_leaves(tmp_path: Path) -> None:
    phrases = TtsCache(tmp_path / "phrases", most_phrases=3)
    for number in range(3):
        phrases.keep("edge-tts", str(number), "en", sound(number))
        aged(tmp_path / "phrases")
    phrases.keep("edge-tts", "0", "en", sound(0))
    aged(tmp_path / "phrases")
    assert phrases.find("edge-tts", "1", "en") is not None
    aged(tmp_path / "phrases")

    phrases.keep("edge-tts", "3", "en", sound(3))

    assert [text for text in "0123" if phrases.find("edge-tts", text, "en")] == ["0", "1", "3"]


def test_the_folder_never_grows_beyond_its_bytes(tmp_path: Path) -> None:
    one = len(to_flac(sound().samples, 24_000))
    phrases = TtsCache(tmp_path / "phrases", most_bytes=4 * one)

    for number in range(10):
        phrases.keep("edge-tts", str(number), "en", sound())

    kept = [file.stat().st_size for file in (tmp_path / "phrases").iterdir()]
    assert sum(kept) <= 4 * one
    assert len(kept) == 4


@pytest.mark.shows("C15")
def test_a_disk_that_takes_nothing_is_left_no_halves_of_files(phrases: TtsCache, tmp_path: Path) -> None:
    phrases.keep("edge-tts", TEXT, "en", sound())
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            phrases.keep("edge-tts", "Another one.", "en", sound(1))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert len(list((tmp_path / "phrases").iterdir())) == 1
    assert phrases.find("edge-tts", TEXT, "en") is not None


def test_a_broken_file_is_removed_and_made_anew(phrases: TtsCache, tmp_path: Path) -> None:
    phrases.keep("edge-tts", TEXT, "en", sound())
    for file in (tmp_path / "phrases").iterdir():
        file.write_bytes(file.read_bytes()[:20])

    assert phrases.find("edge-tts", TEXT, "en") is None
    phrases.keep("edge-tts", TEXT, "en", sound())
    assert phrases.find("edge-tts", TEXT, "en") is not None


@pytest.mark.shows("C15")
def test_bytes_that_a_disk_changed_are_a_sound_or_a_broken_file() -> None:
    random, whole = np.random.default_rng(5), to_flac(sound().samples, 24_000)
    for _ in range(300):
        changed = bytearray(whole)
        for at in random.integers(0, 300, size=10):
            changed[at] = random.integers(256)
        with suppress(BadRecording):
            from_flac(bytes(changed))


READ_ONLY = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && exec "$2" -c "$3" "$1"'
FINDING = f"""
import sys
from pathlib import Path
from audio.tts.tts_cache import TtsCache
phrases = TtsCache(Path(sys.argv[1]))
print(*(phrases.find("edge-tts", text, "en") is not None for text in ("{TEXT}", "Broken.")))
"""


@pytest.mark.network  # as namespaces are allowed wherever those of the network are
@pytest.mark.shows("C15")
def test_a_disk_that_became_read_only_still_gives_what_is_on_it(phrases: TtsCache, tmp_path: Path) -> None:
    phrases.keep("edge-tts", "Broken.", "en", sound())
    (broken,) = (tmp_path / "phrases").iterdir()
    broken.write_bytes(b"fLaC")
    phrases.keep("edge-tts", TEXT, "en", sound())
    alone = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    found = subprocess.run(
        [*alone, "sh", "-c", READ_ONLY, "sh", str(tmp_path / "phrases"), sys.executable, FINDING],
        cwd=Path(__file__).parents[3], stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    assert found.stdout.split() == ["True", "False"]


def test_what_was_kept_can_be_forgotten(phrases: TtsCache, tmp_path: Path) -> None:
    phrases.keep("edge-tts", TEXT, "en", sound())

    phrases.forget()
    phrases.forget()

    assert list(tmp_path.iterdir()) == []


@pytest.mark.shows("V19")
async def test_when_every_voice_fails_what_was_said_before_is_said_again(phrases: TtsCache) -> None:
    clock = Clock()
    good = ScriptedVoice("good", failures={1: 0, 2: 0, 3: 0}, level=3000)
    poor = ScriptedVoice("poor", failures={-1: 0})
    voices = [KeepingVoice(good, phrases), KeepingVoice(poor, phrases)]
    chain = VoiceChain(voices, KeptVoice(phrases, ["good", "poor"]), clock=clock)

    before = await listen(chain.speak(TEXT, "en"))
    after = await listen(chain.speak(TEXT, "en"))
    unknown = await listen(chain.speak("Something new.", "en"))
    again = await listen(chain.speak(TEXT, "en"))

    assert before.failure == after.failure == again.failure == ""
    assert np.array_equal(before.samples, after.samples)
    assert np.array_equal(before.samples, again.samples), "it is asked again though it did not know the one before"
    assert "was not kept" in unknown.failure
    assert np.array_equal(unknown.samples, sign("error").samples)


@pytest.mark.shows("V19")
async def test_a_sentence_that_broke_off_is_said_again_from_its_beginning(phrases: TtsCache) -> None:
    good = ScriptedVoice("good", failures={1: 2}, level=3000)
    chain = VoiceChain([KeepingVoice(good, phrases)], KeptVoice(phrases, ["good"]))

    whole = await listen(chain.speak(TEXT, "en"))
    outcome = await listen(chain.speak(TEXT, "en"))

    pause = round(PAUSE_SECONDS * 24_000)
    assert outcome.failure == ""
    assert len(outcome.samples) == 2 * 4800 + pause + len(whole.samples)
    assert np.array_equal(outcome.samples[2 * 4800 + pause :], whole.samples)
    assert not outcome.samples[2 * 4800 :][:pause].any()


@pytest.mark.shows("V19")
async def test_the_better_voice_is_the_one_that_is_remembered(phrases: TtsCache) -> None:
    phrases.keep("poor", TEXT, "en", sound(1))
    phrases.keep("good", TEXT, "en", sound(2))

    outcome = await listen(KeptVoice(phrases, ["good", "poor"]).speak(TEXT, "en"))

    assert np.array_equal(outcome.samples, sound(2).samples)


@pytest.mark.shows("V19")
async def test_half_a_sentence_is_never_kept(phrases: TtsCache, tmp_path: Path) -> None:
    voice = KeepingVoice(ScriptedVoice(failures={0: 2}), phrases)

    assert (await listen(voice.speak("One two three.", "en"))).failure != ""
    pieces = voice.speak("One two three.", "en")
    await anext(pieces)
    await pieces.aclose()

    assert not (tmp_path / "phrases").exists()


async def test_a_long_sentence_is_said_and_not_kept(phrases: TtsCache, tmp_path: Path) -> None:
    text = "so " * 20
    voice = ScriptedVoice(seconds_a_word=LONGEST_SECONDS / 19)

    assert (await listen(KeepingVoice(voice, phrases).speak(text, "en"))).failure == ""
    assert not (tmp_path / "phrases").exists()


async def test_a_disk_that_takes_nothing_costs_no_word(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    for folder in (tmp_path / "nowhere" / "phrases", tmp_path / "file" / "phrases"):
        outcome = await listen(KeepingVoice(ScriptedVoice(), TtsCache(folder)).speak(TEXT, "en"))
        assert (outcome.failure, outcome.words) == ("", ["I", "heard", "you"])


async def test_two_sentences_may_be_kept_at_once(phrases: TtsCache) -> None:
    voice = KeepingVoice(ScriptedVoice(), phrases)

    async with asyncio.TaskGroup() as group:
        both = [group.create_task(listen(voice.speak(text, "en"))) for text in ("One two.", "Three four.")]

    assert [task.result().failure for task in both] == ["", ""]
    assert all(phrases.find("scripted", text, "en") for text in ("One two.", "Three four."))
