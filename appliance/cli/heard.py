"""The command that lists what was heard: what reached it, and what did not and why."""

import click

from appliance.cli.root import loaded, nakari
from appliance.config.options import Invocation
from appliance.exits import Exit


@nakari.command()
@click.option("-n", "--lines", type=click.IntRange(1, 1000), default=20, metavar="N", help="The newest N; 20.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, with the evidence.")
@click.pass_obj
def heard(invocation: Invocation, lines: int, as_json: bool) -> Exit:
    """List what was heard last, and what became of it.

    Turns that did not reach its have the reason. Read from the state folder; nakari need not run.
    """
    import json

    config = loaded(invocation)
    from appliance.input.heard_history import newest

    for turn in newest(config.state_folder, lines):
        click.echo(json.dumps(turn.to_json(), ensure_ascii=False) if as_json else turn.line(config.zone))
    return Exit.OK
