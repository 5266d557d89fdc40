"""What `nakari` can be told to do; each command imports what it needs when it is told, so that --help is instant."""

import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from appliance.exits import Exit
from appliance.options import Invocation, RunOptions

if TYPE_CHECKING:
    from appliance.config import Config

EPILOG = """\b
Exit codes:
    0  it went well
    1  it ran, but the answer is no: doctor found a fault, the demo was misheard
    2  the command line is wrong
   66  an input file is missing, or is no sound
   69  a part that this command cannot do without is not there
   70  a bug of ours; the message says where it is logged
   73  the state folder or an output file cannot be written
   75  another nakari is running here
   78  the configuration is wrong; the message names file, line and key
  130  stopped by Ctrl-C
  141  whoever read the output is gone
"""

_PATH = click.Path(path_type=Path)


@click.group(epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--config", "file", type=click.Path(path_type=Path), help="The configuration file, instead of the usual one."
)
@click.pass_obj
def nakari(invocation: Invocation, file: Path | None) -> None:
    """Run nakari, a voice assistant that lives in a box at home; talk to it; look after it."""
    invocation.file = file


def _configured(invocation: Invocation, *, log: str = "WARNING") -> "Config":
    """Return the configuration, with privacy and logging (to stderr from level `log` on) set up."""
    import logging

    config = _loaded(invocation)
    from appliance.logs import configure

    configure(config, sys.stderr, at_least=logging.getLevelNamesMapping()[log])
    return config


def _loaded(invocation: Invocation) -> "Config":
    """Return the configuration, with privacy set up and nothing logged."""
    from appliance.config import keep_private, load

    keep_private()
    invocation.config = load(invocation.file)
    return invocation.config


@nakari.command()
@click.option("--input", "recording", type=_PATH, metavar="FILE.wav", help="Take a recording as the microphone.")
@click.option("--fast", is_flag=True, help="Do not wait for the recording's own pace.")
@click.option("--output", type=_PATH, metavar="FILE.wav", help="Write what would be heard.")
@click.option("--once", is_flag=True, help="End after the conversation.")
@click.pass_obj
def run(invocation: Invocation, recording: Path | None, fast: bool, output: Path | None, once: bool) -> Exit:
    """Listen, think, answer: until it is stopped."""
    config = _configured(invocation, log="DEBUG")
    from appliance import service

    return service.run(config, RunOptions(input=recording, fast=fast, output=output, once=once))


@nakari.command()
@click.option("--output", type=_PATH, metavar="FILE.wav", help="Write the answer here.")
@click.pass_obj
def demo(invocation: Invocation, output: Path | None) -> Exit:
    """Show the main job on any machine, without sound hardware.

    A spoken question, made on the spot by a local voice, goes through everything and is answered aloud. Ends with 1
    when something else was heard than was meant.
    """
    config = _configured(invocation)
    from appliance import demo as main_job

    return main_job.demo(config, output)


@nakari.command()
@click.argument("recording", type=_PATH, metavar="FILE.wav")
@click.pass_obj
def hear(invocation: Invocation, recording: Path) -> Exit:
    """Print what a recording says, as JSON lines."""
    config = _configured(invocation)
    from appliance import hear as hearing

    return hearing.hear(config, recording)


@nakari.command()
@click.argument("text")
@click.option("--output", type=_PATH, metavar="FILE.wav", help="Write it here instead of saying it aloud.")
@click.pass_obj
def say(invocation: Invocation, text: str, output: Path | None) -> Exit:
    """Say TEXT aloud."""
    config = _configured(invocation)
    from appliance import say as saying

    return saying.say(config, text, output)


@nakari.command()
@click.argument("text")
@click.pass_obj
def ask(invocation: Invocation, text: str) -> Exit:
    """Ask in writing; the answer is printed as it comes.

    The running service answers; where there is none, this command thinks by itself, once.
    """
    import asyncio

    config = _configured(invocation)
    asyncio.run(_print(_answer(config, text)))
    return Exit.OK


@nakari.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.pass_obj
def status(invocation: Invocation, as_json: bool) -> Exit:
    """Tell how the running service is."""
    import asyncio
    import json

    config = _configured(invocation)
    from appliance.door_client import find_service, status_of

    found = asyncio.run(status_of(find_service(config.sockets)))
    click.echo(json.dumps(found, ensure_ascii=False) if as_json else "\n".join(_lines(found)))
    return Exit.OK


@nakari.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@click.pass_obj
def doctor(invocation: Invocation, as_json: bool) -> Exit:
    """Say what is wrong here, and what mends it.

    Each line is ok, a warning or a fault. Ends with 1 when there is a fault.
    """
    config = _configured(invocation, log="CRITICAL")  # its own lines tell it all
    from appliance.doctor import Verdict, examine

    worst = Verdict.OK
    for line in examine(config):
        click.echo(line.to_json() if as_json else str(line))
        worst = max(worst, line.verdict)
    return Exit.FAULT if worst is Verdict.FAULT else Exit.OK


@nakari.command()
@click.option("-f", "--follow", is_flag=True, help="Go on with what happens from now on, until Ctrl-C.")
@click.option("-n", "--lines", type=click.IntRange(1), metavar="N", help="The newest N; 100, or all since --since.")
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
    config = _loaded(invocation)  # it only reads: no log of its own
    from appliance import logs_command

    wanted = logs_command.wanted(lines, level, since, follow=follow)
    for line in logs_command.show(config, wanted):
        click.echo(line)
    return Exit.OK


@nakari.group(no_args_is_help=False)
def config() -> None:
    """Show the configuration."""


@config.command()
@click.pass_obj
def show(invocation: Invocation) -> Exit:
    """Print what is used: every value with its meaning, secrets by name only."""
    found = _configured(invocation)
    from appliance.settings_file import show as as_toml

    click.echo(f"# read from {found.file}" if found.file else "# there is no configuration file; all is default")
    click.echo(f"# state folder {found.state_folder}, socket {found.socket}")
    click.echo(f"# keys and passwords known: {', '.join(found.secrets) or 'none'}")
    click.echo(f"\n{as_toml(found)}", nl=False)
    return Exit.OK


@config.command()
def default() -> Exit:
    """Print the default file, commented, to start from."""
    from appliance.settings_file import default_toml

    click.echo(default_toml(), nl=False)
    return Exit.OK


@nakari.group(no_args_is_help=False)
def models() -> None:
    """List, fetch and measure the models that hear."""


@models.command("list")
@click.option("--measure", is_flag=True, help="Measure how fast the ones that are here are on this box.")
@click.pass_obj
def list_models(invocation: Invocation, measure: bool) -> Exit:
    """Print the Whisper models: size, whether it is here, how fast, which one listens."""
    config = _configured(invocation)
    from appliance import whisper_models

    return whisper_models.show(config, measure=measure)


@models.command()
@click.argument("name")
@click.option("--folder", type=_PATH, metavar="FOLDER", help="Put it there, not into the state folder.")
@click.pass_obj
def pull(invocation: Invocation, name: str, folder: Path | None) -> Exit:
    """Fetch the Whisper model NAME from the Hugging Face hub.

    Stopped, it goes on from where it was; nothing but a whole, checked model ever stands in its place. "auto" fetches
    the usual one if none is here, measures the box and remembers the best.
    """
    config = _configured(invocation)
    from appliance import whisper_models

    return whisper_models.pull(config, name, folder)


@nakari.command()
def version() -> Exit:
    """Print the version."""
    from appliance import version as this

    click.echo(f"nakari {this.version()}")
    return Exit.OK


def _answer(config: "Config", text: str) -> AsyncGenerator[str, None]:
    from appliance.door_client import ask_running, find_service
    from appliance.errors import ServiceNotRunning

    try:
        return ask_running(find_service(config.sockets), text)
    except ServiceNotRunning:
        from appliance import service

        return service.ask_once(config, text)


async def _print(pieces: AsyncGenerator[str, None]) -> None:
    from contextlib import aclosing

    last = ""
    async with aclosing(pieces):
        async for piece in pieces:
            click.echo(piece, nl=False)
            last = piece or last
    if not last.endswith("\n"):
        click.echo()


def _lines(found: object, indent: str = "") -> list[str]:
    """Return nested values as lines for people."""
    if not isinstance(found, dict):
        return [f"{indent}{found}"]
    lines = []
    for key, value in found.items():
        name = str(key).replace("_", " ")
        if isinstance(value, dict):
            lines += [f"{indent}{name}:", *_lines(value, f"{indent}  ")]
        else:
            lines.append(f"{indent}{name}: {value}")
    return lines
