"""Commands that tell how it is."""

import click

from appliance.cli.root import configured, loaded, nakari
from appliance.config.options import Invocation
from appliance.exits import Exit

MOST = 1_000_000
"""Lines that can be asked for: more than the log file and its copies hold."""


@nakari.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.pass_obj
def status(invocation: Invocation, as_json: bool) -> Exit:
    """Tell how the running service is."""
    import asyncio

    config = configured(invocation)
    from appliance.api.client import find_service, status_of
    from appliance.cli.telling import tell

    tell(asyncio.run(status_of(find_service(config.sockets))), as_json=as_json)
    return Exit.OK


@nakari.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@click.pass_obj
def doctor(invocation: Invocation, as_json: bool) -> Exit:
    """Say what is wrong here, and what fixes it.

    Each line is ok, a warning or a fault. Ends with 1 when there is a fault.
    """
    config = configured(invocation, log="CRITICAL")  # its own lines tell it all
    from appliance.doctor.examine import Verdict, examine

    worst = Verdict.OK
    for line in examine(config):
        click.echo(line.to_json() if as_json else str(line))
        worst = max(worst, line.verdict)
    return Exit.FAULT if worst is Verdict.FAULT else Exit.OK


@nakari.command()
@click.option("-f", "--follow", is_flag=True, help="Go on with what happens from now on, until Ctrl-C.")
@click.option("-n", "--lines", type=click.IntRange(1, MOST), metavar="N", help="The newest N; 100, or all --since.")
@click.option("--level", type=click.Choice(["debug", "info", "warning", "error"]), default="debug", help="At least.")
@click.option(
    "--since", metavar="TIME", help="07:30, 2026-11-21T07:30 (both local time), or as long ago as 90s, 2h, 3d."
)
@click.pass_obj
def logs(invocation: Invocation, follow: bool, lines: int | None, level: str, since: str | None) -> Exit:
    """Show what was logged, in short lines.

    They are read from the journal of the unit nakari, else from the configured log file; both hold more of each line,
    tracebacks included.
    """
    config = loaded(invocation)  # it only reads: no log of its own
    from appliance.logs import show as logs_command

    wanted = logs_command.wanted(lines, level, since, follow=follow)
    for line in logs_command.show(config, wanted):
        click.echo(line)
    return Exit.OK


@nakari.command()
def version() -> Exit:
    """Print the version."""
    from appliance import version as this

    click.echo(f"nakari {this.version()}")
    return Exit.OK
