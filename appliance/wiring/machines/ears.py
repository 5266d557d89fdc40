"""The ears of a mind elsewhere, put together: which parts of a box they go without, and what joins them to the mind."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

from msgspec.structs import replace

from agent.model.interface import CachedPrefix
from appliance.config.agent.tools import CodeSettings, FileSettings, HomeSettings, WeatherSettings, WebSettings
from appliance.config.load import Config
from appliance.machines.ears.courier import Courier, MindPresence
from appliance.machines.ears.ears import Here, RemoteEars, RoomTimers, Waiting
from appliance.machines.ears.mouth import RemoteMouth
from appliance.machines.ears.outbox import Outbox
from appliance.machines.ears.stand_in import AbsentMind, EstimatedTokens, StandIn
from appliance.machines.wire import INBOX
from appliance.model.catalog import ModelCatalog
from appliance.wiring.agent.agent import Sessions
from appliance.wiring.environment import Environment, World
from appliance.wiring.sound.output import Output
from memory.engine.interface import Engine
from memory.errors import EngineFailure


def without_mind(config: Config) -> Config:
    """Return the configuration of ears: no graph, no models, nothing of the house, no growth; the mind has all that."""
    return replace(
        config,
        model=replace(config.model, provider="offline", use="", fallbacks=""),
        memory=replace(config.memory, enabled=False, embeddings="off"),
        growth=replace(config.growth, reflect=False, nights=False),
        satellites=replace(config.satellites, enabled=False),
        home=HomeSettings(),
        web=WebSettings(),
        weather=WeatherSettings(),
        files=FileSettings(),
        code=CodeSettings(),
        models={},
        mcp={},
        calendar={},
    )


def for_ears(environment: Environment) -> Environment:
    """Return the environment of ears: the offline model behind a mind that is never in this process."""
    return replace(environment, models=_models, tokens=EstimatedTokens)


async def _models(catalog: ModelCatalog, room: CachedPrefix | None) -> Sequence[AbsentMind | StandIn]:
    return [AbsentMind(), StandIn()]


@asynccontextmanager
async def open_ears(world: World, output: Output, sessions: Sessions) -> AsyncIterator[RemoteEars]:
    """Join the box to the mind at the engine, which need not be there yet.

    Raises `EngineRefused` for an engine whose client is not installed.
    """
    engine = world.environment.engine(world.config)
    with suppress(EngineFailure):  # it is tried again and again; meanwhile all waits here
        await engine.open()
    try:
        yield await _joined(world, output, sessions, engine)
    finally:
        await engine.close()


async def _joined(world: World, output: Output, sessions: Sessions, engine: Engine) -> RemoteEars:
    state, clock, now = world.state, world.environment.clock, world.environment.now
    here = Here(world.config.machines.own_name, world.config.ears.room)
    outbox = Outbox(state.journal.database)
    await outbox.open()
    mind = MindPresence(clock, now)
    replies = sessions.attention.system_replies
    waiting = Waiting(replies, mind, lambda: output.speech.current is not None, clock)
    parts = (outbox, state.mailbox, state.journal, engine.inbox(INBOX), mind, here.message_of, waiting.handed_over)
    courier = Courier(*parts)
    mouth = RemoteMouth(here.machine, output.speech, output.voice, state.journal, waiting.answered, now)
    timers = RoomTimers(state.mailbox, outbox, courier)
    ears = RemoteEars(here, engine, courier, mind, mouth, timers, waiting, state.bus)
    sessions.attention.interrupt_too(ears.interrupt)
    return ears
