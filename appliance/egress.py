"""What would leave this machine with a configuration, and by which setting."""

from collections.abc import Iterator
from ipaddress import ip_address
from urllib.parse import urlsplit

from appliance.config.load import Config
from appliance.config.models import NamedModel
from appliance.config.values import listed


def is_here(host: str) -> bool:
    """Whether a host's name or address is this machine; a name that only looks like a loopback address is not."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_address_here(address: str) -> bool:
    """Whether the host of an address, such as http://[::1]:8080/v1, is this machine."""
    return is_here(urlsplit(address).hostname or "")


def leaves_the_house(config: Config, has_local_model: bool = False, chosen: str = "") -> Iterator[str]:
    """Yield what of this configuration would leave this machine: what it is for (what goes out; the setting).

    `has_local_model` says that a model server was found on this machine, which "auto" prefers to a provider.
    `chosen` is the alias that was chosen while it ran, which outlives the start and needs no line in the file.
    """
    memory = config.memory
    if config.voice.engine != "espeak" and not is_address_here(config.voice.edge_url):
        yield "the edge voice (what she says; [voice] engine)"
    yield from _models(config, has_local_model, chosen)
    if memory.enabled and memory.uri and not is_address_here(memory.uri):
        yield f"the graph at {memory.uri} (what she remembers; [memory] uri)"
    if memory.enabled and memory.embeddings == "api" and not is_address_here(memory.embedding_url):
        yield f"the embeddings API at {memory.embedding_url} (what she compares by meaning; [memory] embeddings)"
    for name, server in config.mcp.items():
        if server.url and not is_address_here(server.url):
            yield f"the tools of {name} at {server.url} (what she gives them; [mcp.{name}] url)"
    yield from _fetched(config)


def may_be_sent_on(config: Config) -> Iterator[str]:
    """Yield, in the same form, the programs of others on this machine that are given something; only they know more."""
    for name, server in config.mcp.items():
        if server.command:
            yield f"whatever {name} sends on, a program of others (what she gives its tools; [mcp.{name}] command)"


def _models(config: Config, has_local_model: bool, chosen: str) -> Iterator[str]:
    """Yield the models elsewhere that may think: the one of [model], and those of the catalog that are named."""
    model = config.model
    is_providers = model.provider == "auto" and config.provider_keys and not has_local_model
    if model.provider != "offline" and (model.base_url or model.provider == "litellm" or is_providers):
        yield from _model_elsewhere(model, "model")
    named = dict.fromkeys((*listed(model.use), *listed(model.fallbacks)))
    for alias in named:
        yield from _model_elsewhere(config.models[alias], f"models.{alias}")
    if chosen in config.models and chosen not in named:
        for told in _model_elsewhere(config.models[chosen], f"models.{chosen}"):
            yield f"{told.removesuffix(')')}, chosen with `nakari model use`)"


def _model_elsewhere(model: NamedModel, section: str) -> Iterator[str]:
    if not model.base_url:
        yield f"the model's provider (what is said and remembered; [{section}] provider)"
    elif not is_address_here(model.base_url):
        yield f"the model at {model.base_url} (what is said and remembered; [{section}] base_url)"


def _fetched(config: Config) -> Iterator[str]:
    from appliance.model import sentence as sentence_model

    if not config.ears.download:
        return
    if "/" not in config.ears.model and _lacks_recognizer(config):
        yield "fetching the recognizer's model, once (its name; [ears] download)"
    if sentence_model.is_wanted(config) and not sentence_model.is_here(config):
        yield "fetching the sentence model, once (its name; [ears] download)"


def _lacks_recognizer(config: Config) -> bool:
    from appliance.input.whisper.choice import pick
    from audio.errors import ModelNotFound

    try:
        return pick(config) is None
    except ModelNotFound:  # a name that nobody knows: nothing is fetched
        return False
