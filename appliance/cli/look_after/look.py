"""Commands that tell how it is."""

import shutil
import sys
from datetime import tzinfo
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from appliance.cli.root import configured, nakari
from appliance.cli.telling import AS_JSON, asked, tell
from appliance.cli.terminal import show, styled, table
from appliance.config.options import Invocation
from appliance.errors import ConfigError, Exit, Problem, ServiceNotRunning
from appliance.hints import typed_here

if TYPE_CHECKING:
    from appliance.config.load import Config

NOTHING = "nothing yet"
"""What is told where nothing was heard; at ears of a mind elsewhere, which keeps it, that is no news."""

MOST = 1_000_000
"""Lines that can be asked for: more than the log file and its copies hold."""


@nakari.command()
@AS_JSON
@click.option("-v", "--verbose", is_flag=True, help="Every value, by its name in the JSON object.")
@click.pass_obj
def status(invocation: Invocation, as_json: bool, verbose: bool) -> None:
    """Tell how the running service is, on one screen."""
    config = configured(invocation)
    from appliance.cli.look_after.status import in_words

    if config.machines.url and (told := _following(config)):
        tell({"standby": {"state": "follows", "told": told}} if as_json or verbose else told, as_json=as_json)
        return
    found = asked(config, {"do": "status"})
    if as_json or verbose:
        tell(found, as_json=as_json)
    else:
        # A look into the file would wait with the disk.
        heard = "" if "unread" in found else _heard_last(config.state_folder, config.zone)
        told = "" if config.machines.role == "ears" and heard == NOTHING else heard
        table(in_words(found, told, config.zone, shutil.get_terminal_size().columns))


def _following(config: "Config") -> str | None:
    """Return whom the nakari that runs here follows; None where one serves, or none runs."""
    from appliance.api.client import find_service
    from appliance.machines.standby.following import whom_it_follows

    try:
        find_service(config.sockets)
    except ServiceNotRunning:
        return whom_it_follows(config.machines, config.state_folder)
    return None


def _heard_last(state_folder: "Path", zone: "tzinfo") -> str:
    """Return when what was heard last, "" where the state folder is not this user's to read."""
    from appliance.input.heard_history import newest

    try:
        turns = newest(state_folder, 1)
    except Problem:
        return ""
    told = [f"{turn.at.astimezone(zone):%A %H:%M}: {turn.words or '(no words)'}" for turn in turns]
    return told[0] if told else NOTHING


@nakari.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@click.pass_obj
def doctor(invocation: Invocation, as_json: bool) -> Exit:
    """Say what is wrong here, and what fixes it.

    Each line is ok, a warning or a fault. A wrong configuration is a fault like any other: the rest is looked at
    with the default in its place. Ends with 1 when there is a fault.
    """
    from appliance.doctor.examine import Verdict, examine, judge_configuration, summary

    config, wrong = _whatever_is_wrong(invocation)
    found: list[Verdict] = []
    for line in chain(map(judge_configuration, wrong), examine(config)):
        if wrong and line.name == "settings" and line.verdict is Verdict.OK:
            continue
        found.append(line.verdict)
        word = styled(line.verdict.name.lower(), line.verdict.name.lower())
        click.echo(line.to_json() if as_json else typed_here(str(line).replace(line.verdict.name.lower(), word, 1)))
    if not as_json:
        show(summary(found), max(found).name.lower())
    return Exit.FAULT if Verdict.FAULT in found else Exit.OK


def _whatever_is_wrong(invocation: Invocation) -> "tuple[Config, list[ConfigError]]":
    """Return the configuration with the default in the place of all that is wrong, and that; logs nothing but bugs."""
    import logging

    from appliance.config.load import keep_private, load
    from appliance.config.sections import LogSettings
    from appliance.logs.configure import configure, lasting

    keep_private()
    wrong: list[ConfigError] = []
    config = load(invocation.file, wrong=wrong)
    try:
        configure(config, lasting(sys.stderr), at_least=logging.CRITICAL)  # the doctor's own lines tell it all
    except (ConfigError, OSError) as error:  # the log file cannot be written
        wrong += [error if isinstance(error, ConfigError) else ConfigError(f"the log file: {error}; see [log] file")]
        config = replace(config, log=LogSettings(config.log.level, config.log.words))
        configure(config, lasting(sys.stderr), at_least=logging.CRITICAL)
    invocation.config = config
    return config, wrong


@nakari.command()
@click.option("-f", "--follow", is_flag=True, help="Go on with what happens from now on, until Ctrl-C.")
@click.option("-n", "--lines", type=click.IntRange(1, MOST), metavar="N", help="The newest N; 100, or all --since.")
@click.option("--level", type=click.Choice(["debug", "info", "warning", "error"]), default="debug", help="At least.")
@click.option(
    "--since", metavar="TIME", help="07:30, 2026-11-21T07:30 (the household's zone), or as long ago as 90s, 2h, 3d."
)
@click.pass_obj
def logs(invocation: Invocation, follow: bool, lines: int | None, level: str, since: str | None) -> None:
    """Show what was logged, in short lines.

    They are read from the journal of the unit nakari, else from the configured log file; both hold more of each line,
    tracebacks included.
    """
    from appliance.config.load import keep_private, load
    from appliance.logs import show as logs_command
    from appliance.logs.configure import redaction_of

    keep_private()
    wrong: list[ConfigError] = []
    config = load(invocation.file, wrong=wrong)  # it only reads: no log of its own
    for error in wrong:
        click.echo(f"nakari: {error}; read as if that were not there", err=True)

    at = None if since is None else logs_command.asked_moment(since, config.zone)
    wanted = logs_command.wanted(lines, level, at, follow=follow)
    for line in logs_command.show(config.log.file, redaction_of(config), wanted, config.zone):
        click.echo(line)


@nakari.command()
def version() -> None:
    """Print the version."""
    from appliance import version as this

    click.echo(f"nakari {this.named()}")
