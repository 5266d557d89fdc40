"""What a machine is among several, chosen: a whole box, or ears of a mind elsewhere; alone it loads none of this."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent.bus import Bus, Transport
from appliance.config.load import Config
from appliance.config.network.machines import role_of
from appliance.config.options import RunOptions
from appliance.logs.steps import log_others
from appliance.reflexes.forget import Forgetting
from appliance.wiring.agent.agent import Sessions
from appliance.wiring.environment import Environment, World
from appliance.wiring.sound.output import Output
from audio.loops import Loop

if TYPE_CHECKING:
    from appliance.machines.ears.ears import RemoteEars
    from appliance.machines.mind.mind import RemoteRooms


def is_ears(config: Config, options: RunOptions) -> bool:
    """Whether this machine only hears and speaks; one that is opened for a question in writing is a whole box."""
    return not options.brief and role_of(config.machines, options.role) == "ears"


def is_mind(config: Config, options: RunOptions) -> bool:
    """Whether this machine only thinks, and ears elsewhere hear and speak."""
    return not options.brief and role_of(config.machines, options.role) == "mind"


def of_role(config: Config, options: RunOptions, environment: Environment) -> tuple[Config, Environment]:
    """Return what a box is opened with on this machine. Raises `ConfigError` for a part without an engine."""
    if is_mind(config, options):
        from appliance.wiring.machines.mind import for_mind

        return config, for_mind(environment)
    if not is_ears(config, options):
        return config, environment
    from appliance.wiring.machines.ears import for_ears, without_mind

    return without_mind(config), for_ears(environment)


@asynccontextmanager
async def joined(world: World, output: Output, sessions: Sessions) -> "AsyncIterator[tuple[World, RemoteEars | None]]":
    """Join this machine to the others; gives the world as the rest of the box has it. Raises `EngineRefused`."""
    if is_ears(world.config, world.options):
        from appliance.machines.ears.stand_in import Rung
        from appliance.wiring.machines.ears import open_ears

        async with open_ears(world, output, sessions) as ears:
            rung = Rung(world.state.bus, sessions.contexts)
            yield replace(world, spoken=ears.courier, forgets=ears.forget, settlers=(rung,)), ears
    elif has_rooms(world.config, world.options):
        from appliance.machines.mind.arriving import AnsweredThere

        yield replace(world, settlers=(AnsweredThere(world.state.bus, sessions.contexts),)), None
    else:
        yield world, None


def has_rooms(config: Config, options: RunOptions) -> bool:
    """Whether the mind here may have ears on other machines."""
    return bool(config.machines.url) and not options.brief and not is_ears(config, options)


@asynccontextmanager
async def rooms_elsewhere(
    world: World, output: Output, sessions: Sessions, forgetting: Forgetting
) -> "AsyncIterator[RemoteRooms | None]":
    """Open the rooms of ears on other machines; None where there can be none. Raises `EngineRefused`."""
    if not has_rooms(world.config, world.options):
        yield None
        return
    from appliance.wiring.machines.mind import open_rooms

    async with open_rooms(world, output, sessions, forgetting) as rooms:
        yield rooms


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
    from agent.transport import EngineTransport  # loaded where there is an engine, and nowhere else

    engine = environment.engine(config)
    try:
        yield EngineTransport(engine.topics, config.machines.own_name)
    finally:
        await engine.close()


def bus_loops(bus: Bus) -> Mapping[str, Loop]:
    """Return what carries the bus to other machines and back, and logs what they do; nothing where it is alone."""
    if bus.transport is None:
        return {}
    return {
        "machines: the bus, to the others and from them": partial(bus.transport.run, bus),
        "machines: what the others do, to the log": partial(log_others, bus),
    }
