"""Which model thinks: the configured one, or the best that is at hand; the offline model always stands behind it."""

import structlog
from msgspec.structs import replace

from agent.model.chain import Chain, Guarded, Prices
from agent.model.interface import CachedPrefix, ChatModel
from agent.model.probe import find_local_server
from agent.model.wire.profile import Profile, profile_for
from appliance.config.agent.models import NamedModel
from appliance.config.values import listed
from appliance.errors import ConfigError
from appliance.model.catalog import ModelCatalog, provider_at, provider_of
from memory.json_value import Json

log = structlog.get_logger()

CONFIGURED = "configured"
"""The alias of the model that [model] itself describes."""

OFFLINE = "offline"
"""The alias of the model that is always there."""

PREFIXES_OF_OWN = ("anthropic/", "gemini/")
"""Providers whose protocol is not OpenAI's: an address of theirs is litellm's business too."""


async def choose_models(catalog: ModelCatalog, room: CachedPrefix | None = None) -> Chain:
    """Return the models to ask, in order; the last is the offline model, which is always there.

    `room` finds the conversation whose prefix local servers keep and read ahead; None where there is none to keep.
    Looks on loopback only, and sends nothing anywhere. Raises `ConfigError` for a choice that lacks something.
    """
    from agent.intents.model import OfflineModel

    chosen = await _configured(catalog, room)
    named = {alias: _named(catalog, settings, room) for alias, settings in catalog.models.items()}
    asked = listed(catalog.model.fallbacks)
    order = [*asked, *(alias for alias in named if alias not in asked)]
    guarded = [Guarded(alias, named[alias], prices_of(catalog.models[alias])) for alias in order]
    if chosen is not None:
        guarded.insert(0, Guarded(CONFIGURED, chosen, prices_of(catalog.model)))
    # A model of the catalog that is neither to be used nor to fall back on is asked by nobody.
    nobody = catalog.model.provider == "offline" or (chosen is None and not asked)
    first = catalog.model.use or (OFFLINE if nobody else "")
    chain = Chain([*guarded, Guarded(OFFLINE, OfflineModel())], frozenset(asked), room, chosen=first)
    log.info("model_chosen", model=chain.first.name)
    return chain


def prices_of(settings: NamedModel) -> Prices:
    """Return what the configuration says of a model's prices."""
    cached = None if settings.price_cached < 0 else settings.price_cached
    return Prices(settings.price_prompt, cached, settings.price_completion)


def params_of(settings: NamedModel) -> dict[str, Json]:
    """Return the fields that every request to a model carries."""
    wanted: dict[str, Json] = {}
    if settings.temperature >= 0:
        wanted["temperature"] = settings.temperature
    if settings.max_tokens:
        wanted["max_tokens"] = settings.max_tokens
    return wanted


async def _configured(catalog: ModelCatalog, room: CachedPrefix | None) -> ChatModel | None:
    """Return the model that [model] itself describes, None where there is none at hand."""
    provider = catalog.model.provider
    if provider == "offline":
        return None
    if provider == "openai":
        return _openai(catalog, catalog.model, room)
    if provider == "litellm":
        return _litellm(catalog, catalog.model)
    return await _at_hand(catalog, room)


def _named(catalog: ModelCatalog, settings: NamedModel, room: CachedPrefix | None) -> ChatModel:
    """Return a model of the catalog: by its address where that speaks OpenAI's protocol, else by its name."""
    if settings.provider == "offline":
        raise ConfigError(
            f"[{catalog.section_of(settings)}] is offline, which is there anyway, as the last; leave it out"
        )
    speaks_openai = settings.base_url and not settings.name.startswith(PREFIXES_OF_OWN)
    if settings.provider == "openai" or (settings.provider == "auto" and speaks_openai):
        return _openai(catalog, settings, room)
    return _by_name(catalog, settings, room)


def _by_name(catalog: ModelCatalog, settings: NamedModel, room: CachedPrefix | None) -> ChatModel:
    """Return a model of a provider: through litellm, unless all that it would do is to pass OpenAI's protocol on.

    Without litellm the first word of a long conversation comes a few milliseconds after plain httpx's, and 160 MB of
    memory stay free. Whether a model refuses a temperature is left to litellm, which knows each of them.
    """
    name = settings.name or catalog.usual_model
    provider = provider_of(name)
    if settings.provider == "litellm" or settings.base_url or not provider.speaks_openai or settings.temperature >= 0:
        return _litellm(catalog, settings)
    profile = _with_settings(profile_for(provider.address, name, settings.profile), catalog, settings)
    return _thin(provider.address, name.partition("/")[2], catalog.key_for(provider.key, settings), profile, room)


def _openai(catalog: ModelCatalog, settings: NamedModel, room: CachedPrefix | None) -> ChatModel:
    if not settings.base_url or not settings.name:
        raise ConfigError(f'[{catalog.section_of(settings)}] provider = "openai" needs base_url and name; add both')
    key = catalog.key_for(provider_at(settings.base_url).key, settings)
    usual = profile_for(settings.base_url, settings.name, settings.profile)
    return _thin(settings.base_url, settings.name, key, _with_settings(usual, catalog, settings), room)


def _thin(base_url: str, name: str, key: str, profile: Profile, room: CachedPrefix | None) -> ChatModel:
    """Return the thin adapter for a server: Ollama's window can be set by its own protocol only."""
    if profile.name == "ollama":
        from agent.model.ollama import OllamaModel

        return OllamaModel(base_url.rstrip("/").removesuffix("/v1"), name, key, profile=profile, room=room)
    from agent.model.openai_compatible import OpenAiCompatibleModel

    return OpenAiCompatibleModel(base_url, name, key, profile=profile, room=room)


def _with_settings(profile: Profile, catalog: ModelCatalog, settings: NamedModel) -> Profile:
    """Return how a server speaks, with what the configuration says of it."""
    own = replace(profile, slots=settings.slots)
    params = params_of(settings)
    if profile.name == "openai" and "max_tokens" in params:  # its reasoning models refuse the old name of it
        params["max_completion_tokens"] = params.pop("max_tokens")
    return _with_abilities(replace(own, params={**own.params, **params}), catalog, settings)


def _with_abilities(profile: Profile, catalog: ModelCatalog, settings: NamedModel) -> Profile:
    """Return how a server speaks, with what the configuration says of what the model behind it can."""
    return replace(
        profile,
        tools=settings.tools,
        vision=settings.vision,
        images=catalog.images,
        context_tokens=settings.context_tokens,
    )


def _litellm(catalog: ModelCatalog, settings: NamedModel) -> ChatModel:
    from agent.model.litellm import LiteLlmModel

    name = settings.name or catalog.usual_model
    if not name:
        raise ConfigError(
            f'[{catalog.section_of(settings)}] provider = "litellm" needs name, such as "anthropic/claude-haiku-5-5"'
        )
    key = catalog.key_for(provider_of(name).key, settings)
    profile = _with_abilities(profile_for(settings.base_url, name, settings.profile), catalog, settings)
    params = params_of(settings)
    if profile.name == "ollama" and settings.context_tokens:
        params["num_ctx"] = settings.context_tokens
    return LiteLlmModel(name, key, settings.base_url, params, profile=profile)


async def _at_hand(catalog: ModelCatalog, room: CachedPrefix | None) -> ChatModel | None:
    if catalog.model.base_url and catalog.model.name:
        return _named(catalog, catalog.model, room)
    if local := await find_local_server():
        name = catalog.model.name or local.model
        wanted = local.kind if catalog.model.profile == "auto" else catalog.model.profile
        profile = _with_settings(profile_for(local.base_url, name, wanted), catalog, catalog.model)
        return _thin(local.base_url, name, "", profile, room)
    return _by_name(catalog, catalog.model, room) if catalog.provider_keys else None
