"""The mind of ears elsewhere, put together: a box that is neither ears nor mouth, and a room for each of them."""

from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager, suppress

from msgspec.structs import replace

from agent.event import Event
from appliance.config.options import RunOptions
from appliance.config.sections import VoiceSettings
from appliance.machines.mind.mind import RemoteRooms, Surroundings
from appliance.reflexes.forget import Forgetting
from appliance.wiring.agent.agent import Sessions
from appliance.wiring.environment import Environment, World
from appliance.wiring.sound.output import Output
from audio.interfaces import Player
from audio.tts.programs import EspeakSynthesizer
from memory.errors import EngineFailure


def for_mind(environment: Environment) -> Environment:
    """Return the environment of a mind: no microphone, no satellites, and neither loudspeaker nor voice is opened."""

    def player(settings: VoiceSettings, options: RunOptions) -> Awaitable[Player]:
        return environment.player(settings, replace(options, brief=True))

    return replace(
        environment,
        source=lambda settings, options: None,
        player=player,
        voice=lambda settings, folder: EspeakSynthesizer(),
        satellites=lambda config: None,
        speaks=False,
    )


@asynccontextmanager
async def open_rooms(
    world: World, output: Output, sessions: Sessions, forgetting: Forgetting
) -> AsyncIterator[RemoteRooms]:
    """Join the mind to its ears at the engine, which need not be there yet.

    Raises `EngineRefused` for an engine whose client is not installed.
    """
    engine = world.environment.engine(world.config)
    with suppress(EngineFailure):  # it is tried again and again
        await engine.open()
    state, attention = world.state, sessions.attention

    def in_hand() -> Event | None:
        return attention.run.event if attention.run else None

    around = Surroundings(
        state.mailbox,
        state.journal,
        state.bus,
        output.rooms,
        output.company,
        attention.interrupt,
        in_hand,
        output.announcements.file,
        forgetting.last,
        world.config.ears.language,
        world.environment.clock,
    )
    try:
        rooms = RemoteRooms(engine, world.config.machines.own_name, world.epoch, around)
        await rooms.expect()
        yield rooms
    finally:
        await engine.close()
