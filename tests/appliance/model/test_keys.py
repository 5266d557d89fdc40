"""Which model is chosen, and that a key goes to nobody but its own provider."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from appliance.config.load import PROVIDER_KEYS, Config, load
from appliance.errors import ConfigError
from appliance.model.catalog import catalog_of
from appliance.model.choose import choose_models
from appliance.model.providers import PROVIDERS, provider_at, provider_of

ALL_KEYS = {name: f"sk-{name.lower()}" for name in PROVIDER_KEYS}


def configured(tmp_path: Path, model: Mapping[str, str], keys: Mapping[str, str] | None = None) -> Config:
    file = tmp_path / "nakari.toml"
    file.write_text("[model]\n" + "\n".join(f'{key} = "{value}"' for key, value in model.items()))
    return load(file, {"HOME": str(tmp_path), **(ALL_KEYS if keys is None else keys)})


async def chosen(config: Config) -> list[str]:
    models = await choose_models(catalog_of(config))
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
