"""Commands that look into the journal: past model calls, listed and rebuilt."""

import click

from appliance.cli.root import WORDS, loaded, nakari
from appliance.config.options import Invocation
from appliance.exits import Exit


@nakari.group(no_args_is_help=False)
def journal() -> None:
    """Look into the journal, also while nakari runs."""


@journal.command()
@click.option("-n", "--lines", type=click.IntRange(1, 1000), default=20, metavar="N", help="The newest N; 20.")
@click.pass_obj
def calls(invocation: Invocation, lines: int) -> Exit:
    """List the newest model calls with their ids."""
    import asyncio

    config = loaded(invocation)
    from appliance.admin.past_calls import newest

    for line in asyncio.run(newest(config, lines)):
        click.echo(line)
    return Exit.OK


@journal.command()
@click.argument("id", type=WORDS)
@click.pass_obj
def call(invocation: Invocation, id: str) -> Exit:  # noqa: A002  as the help names it
    """Print what the model was asked in the call ID.

    The exact messages and tools, as one JSON object. They are rebuilt from the journal; "is_proven" says that their
    digest is the one written down before the call. Ends with 1 when it is not.
    """
    import asyncio
    import json

    config = loaded(invocation)
    from appliance.admin.past_calls import past_call

    told, is_proven = asyncio.run(past_call(config, id))
    click.echo(json.dumps(told, ensure_ascii=False, indent=1))
    return Exit.OK if is_proven else Exit.FAULT
