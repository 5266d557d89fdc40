"""Which model thinks: the configured one, or the best that is at hand; the offline model always stands behind it."""

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
    key = next(iter(config.provider_keys.values()), None)
    return OpenAiCompatibleModel(config.model.base_url, config.model.name, key.reveal() if key else "")


def _litellm(config: Config) -> ChatModel:
    from agent.model.litellm import LiteLlmModel

    found = next(iter(config.provider_keys.items()), None)
    name = config.model.name or (USUAL_MODELS.get(found[0], "") if found else "")
    if not name:
        raise ConfigError('[model] provider = "litellm" needs name, such as "anthropic/claude-haiku-5-5"')
    return LiteLlmModel(name, found[1].reveal() if found else "", config.model.base_url)


async def _at_hand(config: Config) -> ChatModel | None:
    from agent.model.openai_compatible import OpenAiCompatibleModel

    if config.model.base_url and config.model.name:
        return _openai(config)
    if local := await find_local_server():
        return OpenAiCompatibleModel(local.base_url, config.model.name or local.model)
    return _litellm(config) if config.provider_keys else None
