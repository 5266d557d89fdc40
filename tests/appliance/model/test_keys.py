"""Which model is chosen, and that a key goes to nobody but its own provider."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.model.interface import ChatModel
from agent.model.litellm import LiteLlmModel
from agent.model.openai_compatible import OpenAiCompatibleModel
from appliance.config.agent.models import NamedModel
from appliance.config.load import PROVIDER_KEYS, Config, load
from appliance.errors import ConfigError
from appliance.model.catalog import PROVIDERS, catalog_of, provider_at, provider_of
from appliance.model.choose import choose_models

ALL_KEYS = {name: f"sk-{name.lower()}" for name in PROVIDER_KEYS}


def configured(tmp_path: Path, model: Mapping[str, str], keys: Mapping[str, str] | None = None) -> Config:
    file = tmp_path / "nakari.toml"
    file.write_text("[model]\n" + "\n".join(f'{key} = "{value}"' for key, value in model.items()))
    return load(file, {"HOME": str(tmp_path), **(ALL_KEYS if keys is None else keys)})


async def chosen(config: Config) -> list[str]:
    models = (await choose_models(catalog_of(config))).to_ask
    for model in models:
        await model.aclose()
    return [model.name for model in models]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_each_provider_gets_its_own_key_whatever_others_are_there(tmp_path: Path, provider: str) -> None:
    config = configured(tmp_path, {"provider": "litellm", "name": f"{provider}/some-model"})
    assert catalog_of(config).key_for(provider_of(f"{provider}/some-model").key) == f"sk-{provider}_api_key"


def test_a_server_that_nobody_named_a_key_for_gets_none(tmp_path: Path) -> None:
    config = configured(tmp_path, {"provider": "openai", "base_url": "https://models.example/v1", "name": "m"})
    assert catalog_of(config).key_for(provider_at("https://models.example/v1").key) == ""
    assert catalog_of(config).key_for(provider_at("https://api.openai.com/v1").key) == "sk-openai_api_key"


def test_the_key_that_the_configuration_names_is_the_one(tmp_path: Path) -> None:
    config = configured(
        tmp_path, {"provider": "litellm", "name": "openai/m", "api_key_env": "MINE"}, {"MINE": "sk-mine"}
    )
    assert catalog_of(config).key_for("OPENAI_API_KEY") == "sk-mine"
    absent = configured(tmp_path, {"provider": "litellm", "name": "openai/m", "api_key_env": "MINE"})
    assert catalog_of(absent).key_for("OPENAI_API_KEY") == ""


async def of_catalog(tmp_path: Path, **settings: object) -> ChatModel:
    """Return the model that one entry of the catalog becomes."""
    named = NamedModel(**settings)  # type: ignore[arg-type]  # of the test
    config = replace(configured(tmp_path, {"provider": "offline"}), models={"it": named})
    chain = await choose_models(catalog_of(config))
    for each in chain.models:
        await each.aclose()
    return chain.models[0].model


@pytest.mark.shows("F1")
@pytest.mark.parametrize(
    ("name", "host"),
    [
        ("openai/gpt-5.4-mini", "api.openai.com"),
        ("deepseek/deepseek-v4-flash", "api.deepseek.com"),
        ("openrouter/qwen/qwen3-max", "openrouter.ai"),
    ],
)
async def test_a_name_of_openai_s_protocol_needs_no_litellm(tmp_path: Path, name: str, host: str) -> None:
    model = await of_catalog(tmp_path, name=name)
    assert isinstance(model, OpenAiCompatibleModel)
    assert model.name == f"{host}/{name.partition('/')[2]}"
    assert [each.to for each in model.sends_to] == [host]


@pytest.mark.shows("F1")
@pytest.mark.parametrize(
    "settings",
    [
        {"name": "anthropic/claude-haiku-5-5"},
        {"name": "groq/m"},
        {"name": "openai/m", "provider": "litellm"},
        {"name": "openai/m", "temperature": 0.2},
    ],
    ids=["another protocol", "another provider", "by request", "what some models refuse"],
)
async def test_what_has_to_be_translated_goes_through_litellm(tmp_path: Path, settings: dict[str, object]) -> None:
    assert isinstance(await of_catalog(tmp_path, **settings), LiteLlmModel)


async def test_the_key_alone_chooses_the_provider_and_its_own_client(tmp_path: Path) -> None:
    deepseek = configured(tmp_path, {}, {"DEEPSEEK_API_KEY": "sk-d"})
    assert await chosen(deepseek) == ["api.deepseek.com/deepseek-v4-flash", "offline"]


async def test_the_offline_model_stands_behind_every_choice(tmp_path: Path) -> None:
    local = {"provider": "openai", "base_url": "http://127.0.0.1:9/v1", "name": "m"}
    assert await chosen(configured(tmp_path, {"provider": "offline"})) == ["offline"]
    assert (await chosen(configured(tmp_path, local)))[1:] == ["offline"]
    anthropic = configured(tmp_path, {"provider": "litellm"}, {"ANTHROPIC_API_KEY": "sk-a"})
    assert await chosen(anthropic) == [PROVIDERS["anthropic"].usual_model, "offline"]


CATALOG = '[models.cloud]\nprovider = "openai"\nbase_url = "https://models.example/v1"\nname = "m"\n'


@pytest.mark.shows("F2", "V30")
@pytest.mark.parametrize(
    ("model", "first"),
    [
        ('provider = "offline"', "offline"),
        ('provider = "offline"\nfallbacks = "cloud"', "offline"),
        ('provider = "offline"\nuse = "cloud"', "models.example/m"),
        ('provider = "auto"', "offline"),
        ('provider = "auto"\nfallbacks = "cloud"', "models.example/m"),
    ],
)
async def test_nothing_is_said_to_a_model_of_the_catalog_that_nobody_chose(
    tmp_path: Path, model: str, first: str
) -> None:
    file = tmp_path / "nakari.toml"
    file.write_text(f"[model]\n{model}\n{CATALOG}")
    assert (await chosen(load(file, {"HOME": str(tmp_path)})))[0] == first


@pytest.mark.parametrize("model", [{"provider": "openai", "name": "m"}, {"provider": "litellm"}])
async def test_a_choice_that_lacks_something_is_a_sentence(tmp_path: Path, model: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="needs"):
        await choose_models(catalog_of(configured(tmp_path, model, {})))
