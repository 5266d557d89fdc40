"""The command that has another machine of the household take over."""

from typing import TYPE_CHECKING

import click

from appliance.cli.machines import quietly_configured
from appliance.cli.root import nakari
from appliance.config.options import Invocation
from appliance.exits import Exit

if TYPE_CHECKING:
    from appliance.config.load import Config


@nakari.command("handover")
@click.pass_obj
def handover(invocation: Invocation) -> Exit:
    """Have another machine of the household lead it.

    The one that leads finishes what is under way, or puts it aside for the other one, which goes on within seconds.
    Asked on any of the machines.
    """
    import asyncio

    from appliance.errors import Problem

    config = quietly_configured(invocation)
    if not config.machines.url:
        what = "this machine is alone: [machines] url names no server"
        raise Problem(f"{what}; `nakari config set machines.url tls://HOST:4222` names one", Exit.CONFIG)
    click.echo(f"{asyncio.run(_give_back(config))} has given the lead away")
    return Exit.OK


async def _give_back(config: "Config") -> str:
    from appliance.machines.standby import give_back
    from appliance.wiring.engine import engine_of

    engine = engine_of(config)
    try:
        await engine.open()
        return await give_back(engine)
    finally:
        await engine.close()
