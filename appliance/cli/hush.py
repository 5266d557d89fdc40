"""Commands that act at once on the running service, as reflex words do."""

from typing import TYPE_CHECKING

import click

from appliance.cli.root import configured, nakari
from appliance.config.options import Invocation
from appliance.exits import Exit

if TYPE_CHECKING:
    from agent.model.messages import Json


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


@nakari.command()
@click.argument("level", default="", metavar="[0-100|up|down]")
@click.pass_obj
def volume(invocation: Invocation, level: str) -> Exit:
    """Say how loud it speaks, or set it.

    In percent, or a step `up` or `down`; it stays so over restarts.
    """
    steps = {"up": "louder", "down": "quieter"}
    if level in steps:
        return _tell(invocation, {"do": "hush", "what": steps[level]})
    if level:
        if not level.removesuffix("%").isdecimal() or int(level.removesuffix("%")) > 100:
            raise click.BadParameter(f"{level} is no volume; give 0 to 100, up or down")
        return _tell(invocation, {"do": "hush", "what": "volume", "percent": int(level.removesuffix("%"))})
    return _show_volume(invocation)


def _show_volume(invocation: Invocation) -> Exit:
    import asyncio

    config = configured(invocation)
    from appliance.api.client import find_service, tell

    answer = asyncio.run(tell(find_service(config.sockets), {"do": "status"}))
    reflexes = answer.get("reflexes")
    click.echo(f"The volume is {reflexes['volume'] if isinstance(reflexes, dict) else '?'} percent.")
    return Exit.OK


def _tell(invocation: Invocation, request: "dict[str, Json]") -> Exit:
    import asyncio

    config = configured(invocation)
    from appliance.api.client import find_service, tell

    answer = asyncio.run(tell(find_service(config.sockets), request))
    click.echo(answer["done"] or "There was nothing to do.")
    return Exit.OK
