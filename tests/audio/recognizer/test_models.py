"""Which folder is a model, and which models are here."""

import shutil
from pathlib import Path

import pytest

from audio.errors import ModelDamaged, ModelNotFound
from audio.recognizer.faster_whisper import FasterWhisperRecognizer
from audio.recognizer.models.catalog import (
    MEGABYTES,
    MODELS,
    NEEDED,
    PART,
    PREPROCESSOR,
    VOCABULARIES,
    WEIGHTS,
    Model,
    check_model_folder,
    find_model,
    models_in,
    repository_of,
)
from audio.recognizer.models.speed import sample_utterance
from tests.audio.spoken import HOUSEHOLD_WHISPER


def model_at(folder: Path) -> Path:
    return shutil.copytree(HOUSEHOLD_WHISPER, folder, copy_function=shutil.copy)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return model_at(tmp_path / "model")


def test_a_whole_folder_is_a_model(model: Path) -> None:
    check_model_folder(model)
    assert find_model(model) == model
    (model / "vocabulary.json").rename(model / "vocabulary.txt")
    assert find_model(model) == model


@pytest.mark.parametrize("name", [*NEEDED, VOCABULARIES[0]])
def test_a_folder_that_lacks_a_file_is_none_and_the_sentence_names_it(name: str, model: Path) -> None:
    (model / name).unlink()
    assert find_model(model) is None
    with pytest.raises(ModelNotFound, match=f"{name} missing; set"):
        FasterWhisperRecognizer(model)


@pytest.mark.shows("V9")
def test_the_older_models_come_without_a_preprocessor_file_and_hear_as_well(model: Path) -> None:
    (model / PREPROCESSOR).unlink()
    assert find_model(model) == model
    heard = FasterWhisperRecognizer(model, "en", 1).transcribe(sample_utterance())
    assert heard.text == "Remember that the spare key is under the mat."


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert find_model(tmp_path / "nowhere") is None
    with pytest.raises(ModelNotFound, match=r"nowhere is no folder; set \[ears\] model"):
        check_model_folder(tmp_path / "nowhere")


@pytest.mark.parametrize("name", [WEIGHTS, "config.json", "tokenizer.json", "vocabulary.json"])
def test_a_damaged_model_is_told_with_the_mend(model: Path, name: str) -> None:
    whole = (model / name).read_bytes()
    (model / name).chmod(0o644)
    (model / name).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ModelDamaged, match=r"is damaged .*; remove it and fetch it again"):
        FasterWhisperRecognizer(model).warm()


def test_an_unknown_name_is_told_with_the_known_ones() -> None:
    assert repository_of("base") == "Systran/faster-whisper-base"
    assert repository_of("turbo") == "mobiuslabsgmbh/faster-whisper-large-v3-turbo"
    with pytest.raises(ModelNotFound, match="no Whisper model 'bass'; take one of tiny, base, small"):
        repository_of("bass")


def test_every_name_has_a_size() -> None:
    assert MODELS.keys() == MEGABYTES.keys()


def test_the_names_are_upstreams() -> None:
    from faster_whisper import utils

    assert {name: utils._MODELS[name] for name in MODELS} == MODELS


def test_models_are_listed_smallest_first_and_half_of_one_is_none(tmp_path: Path) -> None:
    for name in ("own", "base", f"small{PART}", "torn", "older"):
        model_at(tmp_path / name)
    (tmp_path / "torn" / NEEDED[0]).unlink()
    (tmp_path / "notes.txt").write_text("not a folder")
    with (tmp_path / "base" / WEIGHTS).open("ab") as weights:
        weights.write(b"more")
    assert [(model.name, model.folder) for model in models_in(tmp_path)] == [
        (name, tmp_path / name) for name in ("older", "own", "base")
    ]
    assert [model.size for model in models_in(tmp_path)] == [2_563_063, 2_563_063, 2_563_067]


def test_no_folder_holds_no_models(tmp_path: Path) -> None:
    assert models_in(tmp_path / "nowhere") == []


@pytest.mark.parametrize(
    ("name", "language", "may"),
    [
        ("base", "zh", True),
        ("base", "", True),
        ("base.en", "en", True),
        ("base.en", "", False),
        ("base.en", "zh", False),
    ],
)
def test_a_model_for_english_alone_is_for_english_alone(name: str, language: str, may: bool) -> None:
    assert Model(name, Path(name), 1).understands(language) is may
