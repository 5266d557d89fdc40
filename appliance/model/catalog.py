"""The models that the configuration describes, and the keys for them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from appliance.config.agent.models import ModelSettings, NamedModel
from appliance.config.load import Config, Secret
from memory.state.images import FOLDER


class Provider(Struct, frozen=True):
    """A provider of models, by the prefix it has in litellm's names."""

    key: str
    """Name of the environment variable or credential with its key."""
    address: str
    """Root of its API."""
    usual_model: str
    """What `[model] name = ""` takes: its small, quick model with tool calling, in litellm's names."""
    free_request: str = "/models"
    """Path below the root that wants a key and bills nothing."""
    key_header: str = "Authorization"
    """Which header carries the key; that one after "Bearer", any other as it is."""
    headers: tuple[tuple[str, str], ...] = ()
    """Further headers that such a request needs."""
    speaks_openai: bool = False
    """Whether its address ends before OpenAI's `/chat/completions`."""

    def headers_with(self, key: str) -> dict[str, str]:
        """Return the headers of a request with a key."""
        shown = f"Bearer {key}" if self.key_header == "Authorization" else key
        return {**dict(self.headers), self.key_header: shown}


PROVIDERS: Final[Mapping[str, Provider]] = {
    "openai": Provider("OPENAI_API_KEY", "https://api.openai.com/v1", "openai/gpt-5.4-mini", speaks_openai=True),
    "anthropic": Provider(
        "ANTHROPIC_API_KEY",
        "https://api.anthropic.com",
        "anthropic/claude-haiku-5-5",
        "/v1/models",
        "x-api-key",
        (("anthropic-version", "2023-06-01"),),
    ),
    "gemini": Provider(
        "GEMINI_API_KEY",
        "https://generativelanguage.googleapis.com",
        "gemini/gemini-3.8-flash",
        "/v1beta/models",
        "x-goog-api-key",
    ),
    "deepseek": Provider(
        "DEEPSEEK_API_KEY", "https://api.deepseek.com", "deepseek/deepseek-v4-flash", speaks_openai=True
    ),
    "openrouter": Provider(
        "OPENROUTER_API_KEY",
        "https://openrouter.ai/api/v1",
        "openrouter/openai/gpt-5.4-mini",
        "/key",
        speaks_openai=True,
    ),
}
"""A key goes to nobody but its own provider."""

OTHER: Final = Provider("", "", "")
"""Any other server: it gets the key that the configuration names, and none else."""


def provider_of(name: str) -> Provider:
    """Return the provider of a model by its litellm name; `OTHER` for one that is not known."""
    return PROVIDERS.get(name.partition("/")[0], OTHER)


def provider_at(url: str) -> Provider:
    """Return the provider whose API is at this address; `OTHER` for any other server."""
    host = urlsplit(url).hostname
    return next((each for each in PROVIDERS.values() if urlsplit(each.address).hostname == host), OTHER)


class ModelCatalog(Struct, frozen=True):
    """What is set of the model that thinks, and of those to switch to or to fall back on."""

    model: ModelSettings
    models: Mapping[str, NamedModel]
    """By alias."""
    secrets: Mapping[str, Secret]
    """What was found, by the variable's name."""
    provider_keys: frozenset[str]
    """Of them the variables that may choose a provider where none is set."""
    images: Path
    """The folder of the images that a model may be shown."""

    def key_for(self, usual: str, settings: NamedModel | None = None) -> str:
        """Return the key that `api_key_env` names, else the usual one of the provider, "" without either."""
        key = self.secrets.get((settings or self.model).api_key_env or usual)
        return key.reveal() if key else ""

    @property
    def usual_model(self) -> str:
        """The usual model of the first provider whose key is there, "" without any."""
        return next((each.usual_model for each in PROVIDERS.values() if each.key in self.provider_keys), "")

    def section_of(self, settings: NamedModel) -> str:
        """Return where the configuration describes a model."""
        return next((f"models.{alias}" for alias, named in self.models.items() if named is settings), "model")


def catalog_of(config: Config) -> ModelCatalog:
    """Return the models of this configuration."""
    keys = frozenset(config.provider_keys)
    return ModelCatalog(config.model, config.models, config.secrets, keys, config.state_folder / FOLDER)
