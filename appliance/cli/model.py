"""Commands about the models that think."""

import click

from appliance.cli.root import NAME, configured, nakari
from appliance.config.options import Invocation
from appliance.exits import Exit


@nakari.group(no_args_is_help=False)
def model() -> None:
    """Choose the model that thinks."""


@model.command()
@click.argument("name", type=NAME)
@click.pass_obj
def use(invocation: Invocation, name: str) -> Exit:
    """Let the model NAME think from the next event on.

    NAME is one of [models.NAME], or "configured" (that of [model]), or "offline". It stays so over restarts; `nakari
    status` tells who thinks, and what it cost.
    """
    import asyncio

    config = configured(invocation)
    from appliance.api.client import find_service, tell

    answer = asyncio.run(tell(find_service(config.sockets), {"do": "model", "use": name}, 5.0))
    click.echo(answer["done"])
    return Exit.OK
