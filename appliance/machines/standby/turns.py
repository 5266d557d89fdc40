"""`nakari run` on a machine that can have the mind of a household: it follows, or serves the whole box."""

from contextlib import suppress
from functools import partial
from time import monotonic

import structlog

from agent.bus import Transport
from agent.transport import EngineTransport
from appliance.admin import exchange
from appliance.machines.standby.lease import Lease
from appliance.machines.standby.standby import Standby, Term
from appliance.notify import Watchdog
from appliance.service import Serving
from appliance.wiring.machines.engine import engine_of
from memory.errors import EngineUnreachable
from memory.state.replicated import ReplicatedDatabase

log = structlog.get_logger()


async def take_turns(serving: Serving) -> None:
    """Follow and lead by turns, until stopped.

    Raises what opening the box raises, `StateUnusable` where the state cannot follow, `EngineRefused`.
    """
    from appliance.wiring.memory.state import opened

    serving.heed_signals()
    config, machines = serving.config, serving.config.machines
    path, name = config.state_folder / exchange.DATABASE, machines.own_name
    engine = engine_of(config)
    state = ReplicatedDatabase(path, engine, household=machines.household, machine=name)
    try:
        with suppress(EngineUnreachable):  # each call tries again
            await engine.open()
        async with opened(state):
            watchdog = Watchdog(serving.notifier, config.supervisor.watchdog, ())
            standby = Standby(engine, state, Lease(engine.keys, name), watchdog, preload)
            transport = EngineTransport(engine.topics, name)
            await standby.run(partial(_serve, serving, transport), serving.stop)
    finally:
        await engine.close()


def preload() -> None:
    """Import what a box is opened with: most of what a start takes. Blocking."""
    import appliance.http.app
    import appliance.http.server
    import appliance.wiring.box  # noqa: F401


async def _serve(serving: Serving, transport: Transport, term: Term) -> None:
    """Open the whole box on the state of a term, and serve until stopped or asked for the term."""
    from appliance.wiring.box import box_on
    from appliance.wiring.environment import REAL, World
    from appliance.wiring.machines.roles import of_role
    from appliance.wiring.memory.state import allowance_of, state_in

    began, config = monotonic(), serving.config
    state = state_in(term.database, allowance_of(config.economy, config.zone), REAL.now, transport)
    config, environment = of_role(config, serving.options, REAL)
    world = World(config, serving.options, state, environment, epoch=term.epoch)
    async with box_on(world, {"standby": term.describe}) as box:
        log.info("box_opened", epoch=term.epoch, seconds=round(monotonic() - began, 3))
        await serving.serve(box, term.asked_for)
