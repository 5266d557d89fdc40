"""Commands that act at once on the running service, as reflex words do."""

from typing import TYPE_CHECKING

import click

from appliance.cli.root import configured, nakari
from appliance.config.options import Invocation
from appliance.exits import Exit

if TYPE_CHECKING:
    from memory.json_value import Json


@nakari.command()
@click.pass_obj
def mute(invocation: Invocation) -> Exit:
    """Switch its ears off.

    They stay off, over restarts, until `nakari unmute` or a typed "unmute".
    """
    return _tell(invocation, {"do": "hush", "what": "mute"})


@nakari.command()
@click.pass_obj
def unmute(invocation: Invocation) -> Exit:
    """Switch its ears on again."""
    return _tell(invocation, {"do": "hush", "what": "unmute"})


@nakari.command()
@click.pass_obj
def hush(invocation: Invocation) -> Exit:
    """Silence what rings, what it says, and what it is about to."""
    return _tell(invocation, {"do": "hush", "what": "stop"})


def _tell(invocation: Invocation, request: "dict[str, Json]") -> Exit:
    import asyncio

    config = configured(invocation)
    from appliance.api.client import find_service, tell

    answer = asyncio.run(tell(find_service(config.sockets), request))
    click.echo(answer["done"] or "There was nothing to do.")
    return Exit.OK
