"""The model that compares by meaning, fetched through the real client from a server that speaks the hub's protocol."""

import asyncio
import io
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from appliance.config.load import Config, load
from appliance.errors import Exit
from appliance.input.whisper.models import FetchProgress
from appliance.input.whisper.recognizers import pull
from appliance.model.sentence import (
    FORMER,
    NAME,
    NETWORK,
    REPOSITORY,
    is_here,
    keep_fetching,
    sentence_settings,
    usual_embedder,
    wanted,
)
from audio.errors import ModelNotFound
from audio.recognizer.models.hub import fetch
from memory.vectors.embedding_local import LocalEmbedder
from tests.appliance.command import nakari, state_folder
from tests.audio.hub_server import Hub, serving
from tests.memory import onnx_model

pytestmark = pytest.mark.shows("F29", "C8")


@pytest.fixture
def files(tmp_path: Path) -> dict[str, bytes]:
    """Return the repository of the hub, with a small real model in the place of the large one."""
    folder = onnx_model.write_model(tmp_path / "made")
    tokenizer = (folder / "tokenizer.json").read_bytes()
    return {NETWORK: onnx_model.network(), "tokenizer.json": tokenizer, "onnx/model.onnx": b"x", "README.md": b"x"}


@pytest.fixture
def hub(files: dict[str, bytes]) -> Iterator[Hub]:
    with serving(Hub({REPOSITORY: files})) as hub:
        yield hub


async def test_it_comes_whole_and_makes_vectors(tmp_path: Path, hub: Hub) -> None:
    folder = fetch(wanted(), tmp_path, FetchProgress(NAME, io.StringIO()), hub.address)
    assert folder == tmp_path / NAME
    assert sorted(path.name for path in folder.iterdir()) == sorted([Path(NETWORK).name, "tokenizer.json"])
    embedder = LocalEmbedder(folder)
    [vector] = await embedder.embed(["dog"])
    assert vector == pytest.approx([0, 0, 1])
    await embedder.close()
    hub.asked.clear()
    assert fetch(wanted(), tmp_path, FetchProgress(NAME, io.StringIO()), hub.address) == folder
    assert hub.asked == []


def test_half_a_model_is_not_taken(tmp_path: Path, files: dict[str, bytes]) -> None:
    del files["tokenizer.json"]
    with (
        serving(Hub({REPOSITORY: files})) as hub,
        pytest.raises(ModelNotFound, match=r"is no sentence model: tokenizer\.json missing"),
    ):
        fetch(wanted(), tmp_path, FetchProgress(NAME, io.StringIO()), hub.address)
    assert not (tmp_path / NAME).exists()


def test_the_command_pulls_it_with_progress(tmp_path: Path, hub: Hub) -> None:
    done = nakari(tmp_path, "models", "pull", NAME, HF_ENDPOINT=hub.address)
    assert (done.returncode, done.stderr) == (Exit.OK, "")
    assert f"{NAME} is in {state_folder(tmp_path)}/models/{NAME}, whole and checked" in done.stdout
    again = nakari(tmp_path, "models", "pull", NAME, HF_ENDPOINT=hub.address)
    assert again.stdout.endswith("is here already; remove it to fetch it anew\n")


@pytest.fixture
def config(tmp_path: Path) -> Config:
    file = tmp_path / "nakari.toml"
    file.write_text(f'[state]\nfolder = "{tmp_path}/state"\n', encoding="utf-8")
    return load(file, {"HOME": str(tmp_path)})


@pytest.fixture
def shell(hub: Hub) -> Iterator[None]:
    """Name the hub in the environment that child processes inherit, as a person's shell does."""
    os.environ["HF_ENDPOINT"] = hub.address
    yield
    del os.environ["HF_ENDPOINT"]


@pytest.mark.usefixtures("shell")
async def test_it_is_fetched_in_the_background_and_the_tiers_are_told(config: Config) -> None:
    came = asyncio.Event()
    settings = sentence_settings(config)
    assert settings.is_wanted
    async with asyncio.timeout(120):
        await keep_fetching(settings, came.set)
    assert is_here(settings.models_folder)
    assert came.is_set()


async def test_it_is_not_fetched_where_it_must_not(config: Config) -> None:
    for changed in (
        replace(config, ears=replace(config.ears, download=False)),
        replace(config, memory=replace(config.memory, embeddings="off")),
        replace(config, memory=replace(config.memory, embedding_model="/opt/mine")),
        replace(config, memory=replace(config.memory, enabled=False)),
    ):
        async with asyncio.timeout(120):
            await keep_fetching(sentence_settings(changed), pytest.fail)


async def test_a_fetch_that_cannot_be_started_is_tried_again_like_any_other(config: Config) -> None:
    with pytest.raises(ModelNotFound, match=rf"`nakari models pull {NAME}` cannot be started: .*No such file"):
        await pull(NAME, config.file, "/gone/by/an/upgrade/python")


async def test_ctrl_c_does_not_reach_a_fetch(config: Config, tmp_path: Path) -> None:
    told = tmp_path / "python"
    told.write_text('#!/bin/sh\nset -- $(cat /proc/$$/stat)\necho "$1 leads $6" >&2\nexit 1\n', encoding="utf-8")
    told.chmod(0o700)
    with pytest.raises(ModelNotFound, match=r"^(\d+) leads \1$"):
        await pull(NAME, config.file, str(told))


async def test_a_box_with_the_former_model_keeps_it_until_the_new_one_is_fetched(config: Config, hub: Hub) -> None:
    settings = sentence_settings(config)
    onnx_model.write_model(settings.models_folder / FORMER, place="model_quint8_avx2.onnx")
    async with asyncio.timeout(120):
        await keep_fetching(settings, pytest.fail)
    assert usual_embedder(settings).name == f"local:{FORMER}"
    fetch(wanted(), settings.models_folder, FetchProgress(NAME, io.StringIO()), hub.address)
    assert usual_embedder(settings).name == f"local:{NAME}"
