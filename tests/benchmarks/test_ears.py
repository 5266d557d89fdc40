"""The bench of the ears: whose clips are in which split, what it reads of a folder, and that it runs."""

import asyncio
import re
from collections import Counter
from importlib import import_module
from inspect import signature
from pathlib import Path
from shutil import copytree, ignore_patterns

import numpy as np
import pytest

from audio.pcm import SAMPLE_RATE, rms_dbfs
from audio.turns.vad import load_detector
from benchmarks.audio.endpointing import ends_of_ours
from benchmarks.ears.__main__ import MEASUREMENTS, main
from benchmarks.ears.cut_offs import cases, is_cut
from benchmarks.ears.material.corpus import SHARES, read_corpus, split_of
from benchmarks.ears.material.mixing import Condition, mixed
from benchmarks.ears.turns import PAUSES, flat, judged, silences
from benchmarks.sound import write_wav
from tests.audio.spoken import said
from tests.room.acoustics import from_samples, level_dbfs
from tests.room.sounds import white


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two labelled sentences and a noise."""
    rows = ["file\tkind\tlanguage\tspeaker\ttext\tsource\tseconds"]
    for name, sentence in {"a": "what time is it", "b": "turn on the kitchen light"}.items():
        write_wav(tmp_path / f"{name}.wav", said(sentence, "slt", tmp_path))
        rows.append(f"{name}.wav\tspeech\ten\tslt\t{sentence}\tflite\t1.5")
    write_wav(tmp_path / "noise.wav", (white(2.0) * 32767).astype(np.int16))
    rows.append("noise.wav\tnoise\t\t\t\tgenerated\t2.0")
    (tmp_path / "clips.tsv").write_text("\n".join(rows) + "\n")
    return tmp_path


def test_a_voice_is_in_one_split_for_ever(folder: Path) -> None:
    a, b, noise = read_corpus(folder)
    assert a.split == b.split == split_of("slt")
    assert (a.text, a.language, a.is_speech, noise.is_speech) == ("what time is it", "en", True, False)
    assert [split_of(f"speaker {number}") for number in range(5)] == ["report", "fit", "fit", "choose", "report"]
    parts = Counter(split_of(str(number)) for number in range(20_000))
    assert {split: parts[split] / 20_000 for split in SHARES} == pytest.approx(SHARES, abs=0.02)


def test_a_folder_needs_no_table(folder: Path) -> None:
    (folder / "clips.tsv").unlink()
    (folder / "noise").mkdir()
    (folder / "noise.wav").rename(folder / "noise" / "rain.wav")
    (folder / "said.wav").unlink(missing_ok=True)
    assert [(clip.file.name, clip.is_speech) for clip in read_corpus(folder)] == [
        ("a.wav", True),
        ("b.wav", True),
        ("rain.wav", False),
    ]


def test_a_folder_of_folders_is_read_by_their_tables(folder: Path, tmp_path: Path) -> None:
    told = [clip.text for clip in read_corpus(folder)]
    within = tmp_path / "of folders" / "clips"
    within.parent.mkdir()
    copytree(folder, within, ignore=ignore_patterns("of folders"))
    assert [(clip.text, clip.file.parent) for clip in read_corpus(within.parent)] == [(text, within) for text in told]


def test_the_projects_own_small_table_is_read(folder: Path) -> None:
    (folder / "clips.tsv").unlink()
    (folder / "transcripts.tsv").write_text("file\tlang\tkind\ttranscript\trepo\na.wav\ten\thuman\twhat time\tx/y\n")
    (clip,) = read_corpus(folder)
    assert (clip.language, clip.text, clip.source, clip.is_speech) == ("en", "what time", "x/y", True)


def test_speech_is_so_far_above_the_noise_as_was_said(tmp_path: Path) -> None:
    clip, noise = said("what time is it", "slt", tmp_path), (white(2.0) * 32767).astype(np.int16)
    clean, loud = (mixed(clip, noise, Condition(snr_db), seed=1) for snr_db in (None, 5.0))
    background = rms_dbfs(loud.samples[: 2 * SAMPLE_RATE])
    assert background == pytest.approx(-27.0 - 5.0, abs=0.5)
    assert level_dbfs(from_samples(clean.samples)) == pytest.approx(-27.0, abs=0.5)
    assert clean.begins == pytest.approx(2.0, abs=0.3)


def test_it_tells_the_split_beside_every_figure(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([str(folder), "--split", split_of("slt"), "--sample", "1", "refusals", "inventions"])
    told = capsys.readouterr().out
    for name in ("refusals", "inventions"):
        assert name in MEASUREMENTS
        assert f"split {split_of('slt')}, recognizer oracle" in told.split(f"\n{name} (")[1].splitlines()[0]
    assert "clean:   0.0% refused (0 of 1 turns" in told


def test_everything_that_can_be_named_is_there() -> None:
    for name in MEASUREMENTS:
        measurement = import_module(f"benchmarks.ears.{name}")
        assert measurement.ABOUT
        assert list(signature(measurement.results).parameters) == ["bench"]


def test_without_whisper_it_tells_what_became_of_words(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([str(folder), "--split", split_of("slt"), "--sample", "1", "words"])
    assert re.search(r"clean, English, 1 clips: [01] turns past the evidence", capsys.readouterr().out)


def test_a_folder_without_noises_is_measured_on_generated_ones(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "noise.wav").unlink()
    table = folder / "clips.tsv"
    table.write_text("".join(line for line in table.read_text().splitlines(True) if "noise" not in line))
    main([str(folder), "--split", split_of("slt"), "inventions"])
    assert re.search(r"0 in \d\.\d min of generated noises: the folder has none", capsys.readouterr().out)


def test_pauses_are_put_into_clips_by_the_word_before_and_cost_what_a_rule_waits(folder: Path) -> None:
    clip = read_corpus(folder)[1]
    found = silences(clip)
    assert [each.kind for each in found].count("end") == 1
    assert {"its word list", "content phrase"} >= {each.kind for each in found if each.kind != "end"}
    (put_in, *_) = (each for each in found if each.kind != "end")
    assert [put_in.cut_by(flat(seconds)) for seconds in (0.2, 2.0)] == [1.0, 0.0]
    assert "waits p50 0.70, mean 0.70, p90 0.70 s; cut off: whole clips 0.0% of 1" in judged(found, flat(0.7))


def test_a_pause_put_in_is_cut_where_the_listener_ends_a_turn_in_it(folder: Path) -> None:
    clip = read_corpus(folder)[1]
    whole, *paused = cases(clip, seed=0)
    assert whole.kind == "end"
    assert not is_cut(whole, [whole.piece.speech_ends + 0.5])
    assert is_cut(whole, [whole.piece.speech_ends - 0.5])
    assert len(paused) == 2 * len(PAUSES)
    assert {each.kind for each in paused} <= {"its word list", "content phrase"}
    ((begins, stops),) = paused[-1].piece.pauses
    assert stops - begins == pytest.approx(PAUSES[-1])
    assert is_cut(paused[-1], [begins + 0.5])
    assert not is_cut(paused[-1], [paused[-1].piece.speech_ends + 0.5])
    assert len(paused[-1].piece.samples) - len(whole.piece.samples) == pytest.approx(PAUSES[-1] * SAMPLE_RATE, abs=2)


def test_cut_offs_run_through_the_whole_listener(folder: Path) -> None:
    whole, *_, longest = cases(read_corpus(folder)[1], seed=0)
    detector = load_detector()
    (end,) = asyncio.run(ends_of_ours(whole.piece, detector))
    assert whole.piece.speech_ends + 0.3 < end < whole.piece.speech_ends + 1.4
    assert len(asyncio.run(ends_of_ours(longest.piece, detector))) in {1, 2}


def test_a_folder_without_clips_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"holds no clips: no clips\.tsv or transcripts\.tsv, and no sound files"):
        main([str(tmp_path)])
