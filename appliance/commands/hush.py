"""Commands that act at once on the running service, as reflex words do."""

from typing import TYPE_CHECKING

import click

from appliance.commands.root import configured, nakari
from appliance.exits import Exit
from appliance.options import Invocation

if TYPE_CHECKING:
    from agent.model.messages import Json

FORGETTING_SECONDS = 600.0
"""How long forgetting may take: her graph is made again without it, from snapshot and audit log."""


@nakari.command()
@click.pass_obj
def mute(invocation: Invocation) -> Exit:
    """Switch her ears off.

    They stay off, over restarts, until `nakari unmute` or a typed "unmute".
    """
    return _tell(invocation, {"do": "hush", "what": "mute"})


@nakari.command()
@click.pass_obj
def unmute(invocation: Invocation) -> Exit:
    """Switch her ears on again."""
    return _tell(invocation, {"do": "hush", "what": "unmute"})


@nakari.command()
@click.pass_obj
def hush(invocation: Invocation) -> Exit:
    """Silence what rings, what she says, and what she is about to."""
    return _tell(invocation, {"do": "hush", "what": "stop"})


@nakari.command()
@click.option("--last", type=click.IntRange(1, 1000), default=1, metavar="N", help="The last N things; 1 if not given.")
@click.option("--minutes", type=click.FloatRange(0, min_open=True), metavar="M", help="Everything of M minutes.")
@click.pass_obj
def forget(invocation: Invocation, last: int, minutes: float | None) -> Exit:
    """Erase what she just heard, and what came of it.

    Words, sounds and context are erased for good; that something was said, and its digest, stay.
    """
    request: dict[str, Json] = {"do": "forget", "last": last}
    return _tell(invocation, request if minutes is None else request | {"minutes": minutes}, FORGETTING_SECONDS)


def _tell(invocation: Invocation, request: "dict[str, Json]", patience: float = 5.0) -> Exit:
    import asyncio

    config = configured(invocation)
    from appliance.door.client import find_service, tell

    answer = asyncio.run(tell(find_service(config.sockets), request, patience))
    click.echo(answer["done"] or "There was nothing to do.")
    return Exit.OK
