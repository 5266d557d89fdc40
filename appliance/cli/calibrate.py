"""The command that measures its echo again: after a loudspeaker or a microphone was moved, turned up, or exchanged."""

import click

from appliance.cli.root import configured, nakari
from appliance.config.options import Invocation
from appliance.exits import Exit

PATIENCE_SECONDS = 40.0
"""How long measuring may take, with the sentence under way before it."""


@nakari.command()
@click.pass_obj
def calibrate(invocation: Invocation) -> Exit:
    """Measure what its microphone hears of its voice.

    It plays a short chime, and says how late and how loud its echo is, and how it listens while it speaks.
    """
    import asyncio

    config = configured(invocation)
    from appliance.api.client import find_service, tell

    answer = asyncio.run(tell(find_service(config.sockets), {"do": "calibrate"}, PATIENCE_SECONDS))
    click.echo(answer["done"])
    return Exit.OK
