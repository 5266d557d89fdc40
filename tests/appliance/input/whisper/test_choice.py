"""What `[ears] model` comes to: by name, by folder, by measurement; and when a measurement still holds."""

import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest
from msgspec.structs import replace

from appliance.config.load import load
from appliance.input.whisper.choice import (
    Measured,
    Pick,
    WhisperSettings,
    candidates,
    is_to_be_measured,
    measure_box,
    pick,
    recall,
    whisper_settings,
)
from appliance.input.whisper.recognizers import model_in_use
from audio.errors import AudioError, ModelNotFound
from audio.recognizer.models.catalog import WEIGHTS, Model
from audio.recognizer.models.speed import Measurement
from tests.audio.spoken import HOUSEHOLD_WHISPER


@pytest.fixture
def settings(tmp_path: Path) -> WhisperSettings:
    return whisper_settings(load(environ={"HOME": str(tmp_path)}))


def hearing(settings: WhisperSettings, **changed: str | int) -> WhisperSettings:
    return replace(settings, ears=replace(settings.ears, **changed))  # keys are checked by replace


def put(settings: WhisperSettings, *names: str) -> None:
    for name in names:
        shutil.copytree(HOUSEHOLD_WHISPER, settings.models_folder / name, copy_function=shutil.copy)


def measured(settings: WhisperSettings) -> Measured:
    def skip(model: Model, error: AudioError) -> None:
        pytest.fail(f"{model}: {error}")

    return measure_box(settings, lambda _: None, skip, quick())


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What a measurement of the model `tiny` keeps, which is a real one."""
    settings = whisper_settings(load(environ={"HOME": str(tmp_path_factory.mktemp("measured"))}))
    put(settings, "tiny")
    measured(settings)
    return (settings.state_folder / "recognizer.json").read_text()


def quick() -> Callable[[], float]:
    """Return a clock by which each decode takes a tenth of a second, whatever else the machine does."""
    return count(0.0, 0.1).__next__


def picked(settings: WhisperSettings) -> tuple[str, int]:
    found = pick(settings)
    assert found is not None
    return found.folder.name, found.threads


def test_a_folder_is_taken_as_it_is(settings: WhisperSettings, tmp_path: Path) -> None:
    assert pick(hearing(settings, model="/some/where", threads=3)) == Pick(Path("/some/where"), 3)
    assert pick(hearing(settings, model="~/mine")) == Pick(Path("~/mine").expanduser(), 0)


def test_a_name_is_a_model_in_the_state_folder(settings: WhisperSettings) -> None:
    assert pick(hearing(settings, model="small")) is None
    put(settings, "small", "my-own")
    assert picked(hearing(settings, model="small")) == ("small", 0)
    assert picked(hearing(settings, model="my-own", threads=2)) == ("my-own", 2)


def test_a_name_that_is_neither_here_nor_known_is_told(settings: WhisperSettings) -> None:
    with pytest.raises(ModelNotFound, match="there is no Whisper model 'bass'; take one of tiny"):
        pick(hearing(settings, model="bass"))


def test_unmeasured_the_usual_model_listens_or_else_the_smallest(settings: WhisperSettings) -> None:
    assert pick(settings) is None
    assert not is_to_be_measured(settings)
    put(settings, "small", "aaa")
    with (settings.models_folder / "small" / WEIGHTS).open("ab") as weights:
        weights.write(b"more")
    assert picked(settings) == ("aaa", 0)
    put(settings, "base")
    assert picked(hearing(settings, threads=2)) == ("base", 2)
    assert is_to_be_measured(settings)


def test_english_alone_is_no_candidate_for_another_language(settings: WhisperSettings) -> None:
    put(settings, "base.en")
    assert [model.name for model in candidates(settings)] == ["base.en"]
    assert candidates(hearing(settings, language="zh")) == candidates(hearing(settings, language="")) == []
    assert pick(hearing(settings, language="")) is None


@pytest.mark.parametrize(("set_to", "meant"), [("auto", ""), ("", ""), ("zh", "zh")])
def test_any_language_is_meant_by_auto_and_by_none(tmp_path: Path, set_to: str, meant: str) -> None:
    config = load(environ={"HOME": str(tmp_path)})
    assert whisper_settings(replace(config, ears=replace(config.ears, language=set_to))).language == meant


@pytest.mark.shows("V9")
def test_what_was_measured_is_kept_and_chosen(settings: WhisperSettings) -> None:
    put(settings, "tiny", "base")
    told: list[Measurement] = []
    made = measure_box(settings, told.append, lambda model, error: pytest.fail(str(error)), quick())
    assert recall(settings) == made
    assert made.measurements == tuple(told)
    assert {each.model for each in told} == {"tiny", "base"}
    assert not is_to_be_measured(settings)
    assert picked(settings) == (made.best.model, made.best.threads)
    assert model_in_use(settings) == str(settings.models_folder / made.best.model)
    assert abs(datetime.now(UTC) - made.at).total_seconds() < 60
    assert [path.name for path in settings.state_folder.iterdir() if path.is_file()] == ["recognizer.json"]


@pytest.mark.parametrize("change", ["model", "weights", "language", "threads", "cores", "processor", "gone"])
def test_a_measurement_holds_as_long_as_nothing_changes_that_it_depends_on(
    settings: WhisperSettings, kept: str, change: str
) -> None:
    put(settings, "tiny")
    assert recall(settings) is None
    file = settings.state_folder / "recognizer.json"
    file.write_text(kept)
    assert recall(settings) is not None
    match change:
        case "model":
            put(settings, "own")
        case "weights":
            with (settings.models_folder / "tiny" / WEIGHTS).open("ab") as weights:
                weights.write(b"more")
        case "gone":
            shutil.rmtree(settings.models_folder / "tiny")
        case "language" | "threads":
            settings = hearing(settings, language="") if change == "language" else hearing(settings, threads=7)
        case _:
            other = json.loads(kept)
            other["conditions"][change] = {"cores": 64, "processor": "another box"}[change]
            file.write_text(json.dumps(other))
    assert recall(settings) is None
    assert is_to_be_measured(settings) is (change != "gone")


def test_the_threads_that_are_set_are_the_ones_measured(settings: WhisperSettings) -> None:
    put(settings, "tiny")
    assert [each.threads for each in measured(hearing(settings, threads=1)).measurements] == [1]


def test_the_choice_follows_from_the_figures_that_are_kept(settings: WhisperSettings) -> None:
    put(settings, "small", "tiny")
    settings = hearing(settings, threads=1)
    measured(settings)
    file = settings.state_folder / "recognizer.json"
    kept = json.loads(file.read_text())
    kept["measurements"] = [
        {"model": "tiny", "size": 75_000_000, "threads": 4, "factor": 0.05},
        {"model": "small", "size": 484_000_000, "threads": 2, "factor": 0.9},
    ]
    file.write_text(json.dumps(kept))
    assert picked(settings) == ("tiny", 4)


def test_a_file_that_cannot_be_read_is_measured_anew(settings: WhisperSettings) -> None:
    settings = hearing(settings, threads=1)
    put(settings, "tiny")
    for text in ("", "{", "[]", "{}", '{"measurements": []}', "\0"):
        (settings.state_folder / "recognizer.json").write_text(text)
        assert recall(settings) is None, text
        assert is_to_be_measured(settings), text
    measured(settings)
    assert recall(settings) is not None


def test_a_damaged_model_is_left_out_and_told(settings: WhisperSettings) -> None:
    settings = hearing(settings, threads=1)
    put(settings, "tiny", "base")
    (settings.models_folder / "base" / WEIGHTS).write_bytes(b"damaged")
    skipped: list[str] = []
    made = measure_box(settings, lambda _: None, lambda model, error: skipped.append(f"{model.name}: {error}"), quick())
    assert {each.model for each in made.measurements} == {"tiny"}
    assert len(skipped) == 1
    assert skipped[0].startswith("base: the Whisper model in ")
    assert picked(settings)[0] == "tiny"
    assert not is_to_be_measured(settings)


def test_nothing_to_measure_is_told_with_the_mend(settings: WhisperSettings) -> None:
    with pytest.raises(ModelNotFound, match=r"`nakari models pull auto` fetches one"):
        measured(settings)
