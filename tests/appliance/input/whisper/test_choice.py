"""What `[ears] model` comes to: by name, by folder, by measurement; and when a measurement still holds."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest

from appliance.config.load import Config, load
from appliance.input.whisper.choice import (
    Measured,
    Pick,
    candidates,
    is_to_be_measured,
    measure_box,
    models_folder,
    pick,
    recall,
)
from appliance.input.whisper.recognizers import model_in_use
from audio.errors import AudioError, ModelNotFound
from audio.recognizer.models import WEIGHTS, Model
from audio.recognizer.speed import Measurement
from tests.audio.spoken import HOUSEHOLD_WHISPER


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return load(environ={"HOME": str(tmp_path)})


def hearing(config: Config, **settings: str | int) -> Config:
    return replace(config, ears=replace(config.ears, **settings))  # type: ignore[arg-type]  # keys are checked by replace


def put(config: Config, *names: str) -> None:
    for name in names:
        shutil.copytree(HOUSEHOLD_WHISPER, models_folder(config) / name, copy_function=shutil.copy)


def measured(config: Config) -> Measured:
    def skip(model: Model, error: AudioError) -> None:
        pytest.fail(f"{model}: {error}")

    return measure_box(config, lambda _: None, skip, quick())


def quick() -> Callable[[], float]:
    """Return a clock by which each decode takes a tenth of a second, whatever else the machine does."""
    return count(0.0, 0.1).__next__


def picked(config: Config) -> tuple[str, int]:
    found = pick(config)
    assert found is not None
    return found.folder.name, found.threads


def test_a_folder_is_taken_as_it_is(config: Config, tmp_path: Path) -> None:
    assert pick(hearing(config, model="/some/where", threads=3)) == Pick(Path("/some/where"), 3)
    assert pick(hearing(config, model="~/mine")) == Pick(Path("~/mine").expanduser(), 0)


def test_a_name_is_a_model_in_the_state_folder(config: Config) -> None:
    assert pick(hearing(config, model="small")) is None
    put(config, "small", "my-own")
    assert picked(hearing(config, model="small")) == ("small", 0)
    assert picked(hearing(config, model="my-own", threads=2)) == ("my-own", 2)


def test_a_name_that_is_neither_here_nor_known_is_told(config: Config) -> None:
    with pytest.raises(ModelNotFound, match="there is no Whisper model 'bass'; take one of tiny"):
        pick(hearing(config, model="bass"))


def test_unmeasured_the_usual_model_listens_or_else_the_smallest(config: Config) -> None:
    assert pick(config) is None
    assert not is_to_be_measured(config)
    put(config, "small", "aaa")
    with (models_folder(config) / "small" / WEIGHTS).open("ab") as weights:
        weights.write(b"more")
    assert picked(config) == ("aaa", 0)
    put(config, "base")
    assert picked(hearing(config, threads=2)) == ("base", 2)
    assert is_to_be_measured(config)


def test_english_alone_is_no_candidate_for_another_language(config: Config) -> None:
    put(config, "base.en")
    assert [model.name for model in candidates(config)] == ["base.en"]
    assert candidates(hearing(config, language="zh")) == candidates(hearing(config, language="auto")) == []
    assert pick(hearing(config, language="auto")) is None


@pytest.mark.shows("V9")
def test_what_was_measured_is_kept_and_chosen(config: Config) -> None:
    put(config, "tiny", "base")
    told: list[Measurement] = []
    made = measure_box(config, told.append, lambda model, error: pytest.fail(str(error)), quick())
    assert recall(config) == made
    assert made.measurements == tuple(told)
    assert {each.model for each in told} == {"tiny", "base"}
    assert not is_to_be_measured(config)
    assert picked(config) == (made.best.model, made.best.threads)
    assert model_in_use(config) == str(models_folder(config) / made.best.model)
    assert abs(datetime.now(UTC) - made.at).total_seconds() < 60
    assert [path.name for path in config.state_folder.iterdir() if path.is_file()] == ["recognizer.json"]


@pytest.mark.parametrize("change", ["model", "weights", "language", "threads", "cores", "processor", "gone"])
def test_a_measurement_holds_as_long_as_nothing_changes_that_it_depends_on(config: Config, change: str) -> None:
    put(config, "tiny")
    assert recall(config) is None
    measured(config)
    assert recall(config) is not None
    file = config.state_folder / "recognizer.json"
    kept = json.loads(file.read_text())
    match change:
        case "model":
            put(config, "own")
        case "weights":
            with (models_folder(config) / "tiny" / WEIGHTS).open("ab") as weights:
                weights.write(b"more")
        case "gone":
            shutil.rmtree(models_folder(config) / "tiny")
        case "language" | "threads":
            config = hearing(config, language="") if change == "language" else hearing(config, threads=7)
        case _:
            kept["conditions"][change] = {"cores": 64, "processor": "another box"}[change]
            file.write_text(json.dumps(kept))
    assert recall(config) is None
    assert is_to_be_measured(config) is (change != "gone")


def test_the_threads_that_are_set_are_the_ones_measured(config: Config) -> None:
    put(config, "tiny")
    assert [each.threads for each in measured(hearing(config, threads=1)).measurements] == [1]


def test_the_choice_follows_from_the_figures_that_are_kept(config: Config) -> None:
    put(config, "small", "tiny")
    measured(config)
    file = config.state_folder / "recognizer.json"
    kept = json.loads(file.read_text())
    kept["measurements"] = [
        {"model": "tiny", "size": 75_000_000, "threads": 4, "factor": 0.05},
        {"model": "small", "size": 484_000_000, "threads": 2, "factor": 0.9},
    ]
    file.write_text(json.dumps(kept))
    assert picked(config) == ("tiny", 4)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"measurements": []}', "\0"])
def test_a_file_that_cannot_be_read_is_measured_anew(config: Config, text: str) -> None:
    put(config, "tiny")
    (config.state_folder / "recognizer.json").write_text(text)
    assert recall(config) is None
    assert is_to_be_measured(config)
    measured(config)
    assert recall(config) is not None


def test_a_damaged_model_is_left_out_and_told(config: Config) -> None:
    put(config, "tiny", "base")
    (models_folder(config) / "base" / WEIGHTS).write_bytes(b"damaged")
    skipped: list[str] = []
    made = measure_box(config, lambda _: None, lambda model, error: skipped.append(f"{model.name}: {error}"), quick())
    assert {each.model for each in made.measurements} == {"tiny"}
    assert len(skipped) == 1
    assert skipped[0].startswith("base: the Whisper model in ")
    assert picked(config)[0] == "tiny"
    assert not is_to_be_measured(config)


def test_nothing_to_measure_is_told_with_the_mend(config: Config) -> None:
    with pytest.raises(ModelNotFound, match=r"`nakari models pull auto` fetches one"):
        measured(config)
