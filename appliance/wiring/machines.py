"""The way of the bus to a household's other machines, where the configuration names an engine between them."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from agent.bus import Bus, Transport
from appliance.api.handler import Part
from appliance.config.options import RunOptions
from appliance.logs.steps import log_others
from appliance.wiring.environment import Environment
from appliance.wiring.roles import is_ears
from audio.loops import Loop

if TYPE_CHECKING:
    from appliance.config.load import Config


@asynccontextmanager
async def open_transport(
    config: "Config", options: RunOptions, environment: Environment
) -> AsyncIterator[Transport | None]:
    """Return what leads to the engine, which is first called by the loops; None where none is named.

    Ears have none either: what they overhear and do not take up is on their bus, and stays on their machine.

    Raises `EngineRefused` when its client is not installed.
    """
    if options.brief or not config.machines.url or is_ears(config, options):
        yield None
        return
    from agent.transport import EngineTransport  # these are loaded where there is an engine, and nowhere else
    from appliance.wiring.ears import machine_name

    engine = environment.engine(config)
    try:
        yield EngineTransport(engine.topics, machine_name(config))
    finally:
        await engine.close()


def loops_of(bus: Bus) -> Mapping[str, Loop]:
    """Return what carries the bus to other machines and back, and logs what they do; nothing where it is alone."""
    if bus.transport is None:
        return {}
    return {
        "machines: the bus, to the others and from them": partial(bus.transport.run, bus),
        "machines: what the others do, to the log": partial(log_others, bus),
    }


def described(bus: Bus) -> dict[str, Part]:
    """Return what the status says of the way to other machines; nothing where it is alone."""
    return {} if bus.transport is None else {"bus": bus.transport.describe}
