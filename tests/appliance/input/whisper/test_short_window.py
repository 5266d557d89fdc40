"""The short window on this box: off until compared, kept with its model, used when it heard the same."""

import shutil
from pathlib import Path
from typing import Literal

import pytest
from msgspec.structs import replace

from appliance.config.load import Config, load
from appliance.doctor.examine import Verdict as Judgement
from appliance.input.whisper.check import judge_window, window
from appliance.input.whisper.choice import Pick, WhisperSettings, whisper_settings
from appliance.input.whisper.recognizers import choose_whisper
from appliance.input.whisper.short_window import compare_box, is_short, recall
from audio.recognizer.models.compare import Comparison
from audio.speech import Transcript
from tests.appliance.command import nakari, state_folder
from tests.audio.spoken import HOUSEHOLD_WHISPER, said, utterance

GOOD = Comparison(60, 0, 9.0, 1.0)


def config_of(folder: Path, short_window: Literal["auto", "on", "off"] = "auto", hotwords: str = "") -> Config:
    config = load(environ={})
    ears = replace(config.ears, model="auto", language="en", short_window=short_window, hotwords=hotwords)
    return replace(config, state_folder=folder / "state", ears=ears)


def settings_of(
    folder: Path, short_window: Literal["auto", "on", "off"] = "auto", hotwords: str = ""
) -> WhisperSettings:
    return whisper_settings(config_of(folder, short_window, hotwords))


@pytest.fixture
def picked(tmp_path: Path) -> Pick:
    """The tests' small Whisper, where "auto" finds it."""
    folder = tmp_path / "state" / "models" / "own"
    shutil.copytree(HOUSEHOLD_WHISPER, folder)
    return Pick(folder, 0)


@pytest.mark.shows("V10")
def test_it_is_off_until_compared_and_then_used_by_the_recognizer(tmp_path: Path, picked: Pick) -> None:
    settings, told = settings_of(tmp_path), list[Comparison]()
    spoken = utterance(said("What time is it?", "en-us", tmp_path))

    def heard() -> Transcript:
        return choose_whisper(settings).recognizer.transcribe(spoken)

    assert not is_short(settings, picked)
    assert heard().evidence["window_frames"] == 3000
    verdict = compare_box(settings, picked, told.append)
    assert verdict.comparison == told[-1]
    assert [each.words for each in told] == sorted(each.words for each in told)
    assert verdict.comparison.is_for_short == is_short(settings, picked)
    assert recall(settings, picked) == verdict
    assert (heard().evidence["window_frames"] < 3000) == verdict.comparison.is_for_short


@pytest.mark.shows("V10")
def test_what_is_interrupted_leaves_no_verdict(tmp_path: Path, picked: Pick) -> None:
    settings = settings_of(tmp_path)

    def stop(_: Comparison) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare_box(settings, picked, stop)
    assert recall(settings, picked) is None


def kept(settings: WhisperSettings, picked: Pick, comparison: str) -> None:
    size = (picked.folder / "model.bin").stat().st_size
    about = f'"model": "own", "size": {size}, "language": "en", "at": "2026-11-21T12:00:00Z"'
    settings.state_folder.mkdir(exist_ok=True)
    (settings.state_folder / "short_window.json").write_text(f'{{{about}, "comparison": {comparison}}}')


@pytest.mark.shows("V10")
def test_a_verdict_holds_for_its_model_and_language_and_the_setting_overrides_it(tmp_path: Path, picked: Pick) -> None:
    settings = settings_of(tmp_path)
    kept(settings, picked, '{"words": 60, "differing": 0, "whole_seconds": 9.0, "short_seconds": 1.0}')
    assert is_short(settings, picked)
    assert not is_short(settings_of(tmp_path, short_window="off"), picked)
    other = replace(settings, ears=replace(settings.ears, language="de"))
    assert not is_short(other, picked)
    (picked.folder / "model.bin").write_bytes(b"another")
    assert not is_short(settings, picked)
    assert is_short(settings_of(tmp_path, short_window="on"), picked)


@pytest.mark.shows("V10")
def test_a_short_window_that_hears_otherwise_stays_off(tmp_path: Path, picked: Pick) -> None:
    settings = settings_of(tmp_path)
    kept(settings, picked, '{"words": 60, "differing": 9, "whole_seconds": 9.0, "short_seconds": 1.0}')
    assert not is_short(settings, picked)
    line = window(config_of(tmp_path))
    assert (line.name, line.verdict) == ("window", Judgement.OK)
    assert line.what == (
        "Whisper is given its whole window of 30 s; "
        "9 of 60 words differ in the short window, which takes 1.0 s instead of 9.0 s"
    )


def test_a_verdict_that_cannot_be_read_is_none(tmp_path: Path, picked: Pick) -> None:
    settings = settings_of(tmp_path)
    kept(settings, picked, "nonsense")
    assert recall(settings, picked) is None


@pytest.mark.shows("V10")
def test_the_doctor_says_what_was_found_and_how_to_find_out(tmp_path: Path, picked: Pick) -> None:
    unknown = window(config_of(tmp_path))
    assert unknown.fix == "`nakari models list --measure` compares the two on voices of this box"
    assert judge_window("off", None, is_used=False).fix == ""
    assert judge_window("on", None, is_used=True).verdict is Judgement.WARNING
    assert judge_window("auto", GOOD, is_used=True).what.startswith("Whisper is given the short window; 0 of 60 words")
    wrong = judge_window("on", Comparison(60, 9, 9.0, 1.0), is_used=True)
    assert (wrong.verdict, wrong.fix) == (Judgement.WARNING, 'set [ears] short_window = "auto"')


def test_without_a_whisper_model_there_is_nothing_to_choose(tmp_path: Path) -> None:
    assert window(config_of(tmp_path)).what == "no Whisper model, no window to choose"


@pytest.mark.shows("V10")
def test_the_command_compares_and_tells_how_far_it_is(tmp_path: Path) -> None:
    shutil.copytree(HOUSEHOLD_WHISPER, state_folder(tmp_path) / "models" / "own")
    (tmp_path / "thread.toml").write_text(
        "[ears]\nthreads = 1\n", encoding="utf-8"
    )  # measured once, not by each number
    done = nakari(tmp_path, "models", "list", "--measure", NAKARI_CONFIG=str(tmp_path / "thread.toml"))
    lines = done.stdout.splitlines()
    assert "comparing the short window of own with the whole one; Ctrl-C leaves it as it was" in lines
    assert sum(line.startswith("  ") and "words differ in the short window" in line for line in lines) >= 6
    assert any(line.startswith("the short window is ") for line in lines)
    assert (state_folder(tmp_path) / "short_window.json").is_file()


@pytest.mark.shows("V13")
def test_hotwords_come_from_the_configuration_and_from_names(tmp_path: Path, picked: Pick) -> None:
    hearing = choose_whisper(
        settings_of(tmp_path, hotwords="ComfyUI, Ägidius"), lambda language: {"en": ["Anna"]}[language]
    )
    recognizer = hearing.recognizer._recognizer
    assert recognizer._options.hotwords("en") == ["ComfyUI", "Ägidius", "Anna"]  # type: ignore[attr-defined]
