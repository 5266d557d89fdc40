"""The engine between the machines of the household, as the configuration names it."""

from typing import TYPE_CHECKING

from appliance.config.load import Config

if TYPE_CHECKING:
    from memory.engine.interface import Engine


def engine_of(config: Config) -> "Engine":
    """Return the engine of `[machines] url`, not opened yet. Raises `EngineRefused` where its client is missing."""
    from appliance.machines.joining.login import login_of  # loaded where there is an engine, and nowhere else
    from memory.engine.access import engine_at

    return engine_at(url=config.machines.url, household=config.machines.household, login=login_of(config))
