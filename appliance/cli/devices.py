"""The command that lists microphones and loudspeakers and tries them."""

import click

from appliance.cli.root import configured, nakari
from appliance.config.options import Invocation
from appliance.exits import Exit


@nakari.command()
@click.option("--test", is_flag=True, help="Play a tone on the chosen loudspeaker and measure the chosen microphone.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.pass_obj
def devices(invocation: Invocation, test: bool, as_json: bool) -> Exit:
    """List microphones and loudspeakers; try the chosen ones.

    A part of a name is enough in [ears] device and [voice] device; names stay when numbers change at a reboot.
    Ends with 1 when a configured one is not there, or the test finds a fault.
    """
    import json
    from dataclasses import asdict

    config = configured(invocation, log="CRITICAL")  # its own lines tell it all
    from appliance.doctor.try_devices import lines, tried

    told = tried(config, test=test)
    if as_json:
        found = [json.loads(line.to_json()) for line in told.found]
        click.echo(json.dumps({**asdict(told.devices), "found": found}, ensure_ascii=False))
    else:
        click.echo("\n".join(lines(told)))
    return Exit.FAULT if told.has_fault else Exit.OK
