"""What it knows of itself comes from the configuration and the models that were chosen, and from nowhere else."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.intents.model import OfflineModel
from agent.model.chain import Chain
from agent.model.interface import ChatModel
from agent.model.litellm import LiteLlmModel
from agent.model.openai_compatible import OpenAiCompatibleModel
from agent.prompts import Self
from appliance.config.load import Config, load
from appliance.config.sections import MemorySettings, MindSettings, VoiceSettings
from appliance.wiring.agent.agent import about


def config(folder: Path) -> Config:
    return load(None, {"HOME": str(folder), "XDG_STATE_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)})


def with_model(config: Config, *models: ChatModel) -> Self:
    """Return what it knows of itself with these models, the first of which thinks."""
    return about(config, Chain.of([*models, OfflineModel()]))()


@pytest.mark.shows("D18", "X2")
def test_a_local_box_says_that_nothing_leaves_it(tmp_path: Path) -> None:
    local = replace(config(tmp_path), voice=VoiceSettings(engines=("espeak",)), mind=MindSettings(max_tool_calls=7))
    told = with_model(local, OpenAiCompatibleModel("http://127.0.0.1:11434/v1", "qwen3:4b"))
    assert told.leaving == ()
    assert (told.model, told.max_tool_calls) == ("127.0.0.1:11434/qwen3:4b", 7)
    assert "own store" in told.memory
    assert with_model(replace(local, memory=MemorySettings(enabled=False))).memory == ""


@pytest.mark.shows("D18", "X2")
def test_whatever_leaves_the_house_is_named_with_where_it_goes(tmp_path: Path) -> None:
    memory = MemorySettings(
        uri="bolt://10.0.0.2:7687", embeddings="api", embedding_model="m", embedding_url="https://vectors.example/v1"
    )
    wide = replace(config(tmp_path), voice=VoiceSettings(), memory=memory)
    told = " ".join(with_model(wide, LiteLlmModel("openai/gpt-5.4-mini")).leaving)
    assert "the provider openai" in told
    assert "Microsoft" in told
    assert "vectors.example" in told
    assert "10.0.0.2" in told


@pytest.mark.shows("D18", "X2")
@pytest.mark.parametrize("host", ["localhost:8080", "127.0.0.1", "[::1]:1"])
def test_a_model_on_this_machine_is_no_leak(tmp_path: Path, host: str) -> None:
    local = replace(config(tmp_path), voice=VoiceSettings(engines=("espeak",)))
    assert with_model(local, OpenAiCompatibleModel(f"http://{host}/v1", "m")).leaving == ()


@pytest.mark.shows("D18", "X2")
@pytest.mark.parametrize("host", ["127.0.0.1.example.org", "localhost.example.org:1", "10.0.0.1:11434"])
def test_a_name_that_only_looks_like_this_machine_is_elsewhere(tmp_path: Path, host: str) -> None:
    local = replace(config(tmp_path), voice=VoiceSettings(engines=("espeak",)))
    told = with_model(local, OpenAiCompatibleModel(f"http://{host}/v1", "m")).leaving
    assert any(host in each for each in told)
