"""The models that the configuration describes, and the keys for them."""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from appliance.config.agent.models import ModelSettings, NamedModel
from appliance.config.load import Config, Secret
from appliance.model.providers import PROVIDERS
from memory.state.images import FOLDER


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
