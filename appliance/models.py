"""Which model thinks: the configured one, or the best that is at hand; the offline model always stands behind it."""

from urllib.parse import urlsplit

import structlog

from agent.model.interface import ChatModel
from agent.model.probe import find_local_server
from appliance.config import Config
from appliance.errors import ConfigError

log = structlog.get_logger()

USUAL_MODELS = {
    "OPENAI_API_KEY": "openai/gpt-5.4-mini",
    "ANTHROPIC_API_KEY": "anthropic/claude-haiku-5-5",
    "GEMINI_API_KEY": "gemini/gemini-3.8-flash",
    "DEEPSEEK_API_KEY": "deepseek/deepseek-v4-flash",
    "OPENROUTER_API_KEY": "openrouter/openai/gpt-5.4-mini",
}
"""What `[model] name = ""` takes of each provider, in litellm's names: its small, quick model with tool calling."""


KEYS_OF_NAMES = {
    "openai": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "gemini": "GEMINI_API_KEY",
    "deepseek": "DEEPSEEK_API_KEY",
    "openrouter": "OPENROUTER_API_KEY",
}
"""Whose key a model of this prefix gets: a key goes to nobody but its own provider."""

KEYS_OF_HOSTS = {
    "api.openai.com": "OPENAI_API_KEY",
    "api.deepseek.com": "DEEPSEEK_API_KEY",
    "openrouter.ai": "OPENROUTER_API_KEY",
    "generativelanguage.googleapis.com": "GEMINI_API_KEY",
}
"""Whose key a server gets when the configuration names none; any other server gets none."""


async def choose_models(config: Config) -> list[ChatModel]:
    """Return the models to ask, in order; the last is the offline model, which is always there.

    Looks on loopback only, and sends nothing anywhere. Raises `ConfigError` for a choice that lacks something.
    """
    from agent.model.offline import OfflineModel

    offline = OfflineModel()
    provider = config.model.provider
    if provider == "offline":
        chosen = None
    elif provider == "openai":
        chosen = _openai(config)
    elif provider == "litellm":
        chosen = _litellm(config)
    else:
        chosen = await _at_hand(config)
    log.info("model_chosen", model=chosen.name if chosen else offline.name)
    return [chosen, offline] if chosen else [offline]


def _openai(config: Config) -> ChatModel:
    from agent.model.openai_compatible import OpenAiCompatibleModel

    if not config.model.base_url or not config.model.name:
        raise ConfigError('[model] provider = "openai" needs base_url and name; add both')
    host = urlsplit(config.model.base_url).hostname or ""
    return OpenAiCompatibleModel(config.model.base_url, config.model.name, key_for(config, KEYS_OF_HOSTS.get(host, "")))


def key_for(config: Config, usual: str) -> str:
    """Return the key that `[model] api_key_env` names, else the usual one of the provider, "" without either."""
    key = config.provider_keys.get(config.model.api_key_env or usual)
    return key.reveal() if key else ""


def _litellm(config: Config) -> ChatModel:
    from agent.model.litellm import LiteLlmModel

    name = config.model.name or next((USUAL_MODELS[key] for key in config.provider_keys if key in USUAL_MODELS), "")
    if not name:
        raise ConfigError('[model] provider = "litellm" needs name, such as "anthropic/claude-haiku-5-5"')
    key = key_for(config, KEYS_OF_NAMES.get(name.partition("/")[0], ""))
    return LiteLlmModel(name, key, config.model.base_url)


async def _at_hand(config: Config) -> ChatModel | None:
    from agent.model.openai_compatible import OpenAiCompatibleModel

    if config.model.base_url and config.model.name:
        return _openai(config)
    if local := await find_local_server():
        return OpenAiCompatibleModel(local.base_url, config.model.name or local.model)
    return _litellm(config) if config.provider_keys else None
