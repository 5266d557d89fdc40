"""The command `nakari` itself, and what its commands share."""

import os
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from appliance.config.options import Invocation
from appliance.errors import ConfigError, Exit, Problem

if TYPE_CHECKING:
    from appliance.config.load import Config

EPILOG = """\b
Exit codes:
    0  it went well
    1  it ran, but the answer is no: doctor found a fault, the demo was misheard
    2  the command line is wrong
   66  there is nothing of that name, or no such file, sound or key
   69  a part that this command cannot do without is not there
   70  a bug of ours; the message says where it is logged
   73  the state folder or an output file cannot be written
   75  another nakari is running here
   77  it is not yours to ask: a key is not proven, or not a member's
   78  the configuration is wrong; the message names file, line and key
   79  what was asked is put aside, and goes on later by itself
  130  stopped by Ctrl-C
  141  whoever read the output is gone
"""


SECTIONS: Mapping[str, tuple[str, ...]] = {
    "Talk": ("run", "chat", "ask", "say", "hear", "demo"),
    "Listen": ("stop", "mute", "unmute", "volume", "heard", "timers", "voices", "devices", "satellite", "calibrate"),
    "Remember": ("memory", "forget", "events", "mailbox", "journal", "backup", "restore"),
    "Choose": ("config", "model", "models", "settings", "identity", "token"),
    "Look after": ("doctor", "status", "turns", "why", "replay", "logs", "bench", "version"),
    "Connect": ("join", "machines", "handover", "mcp", "completion", "help"),
}
"""Which commands stand together in --help, and in which order."""


LEAST = 62
"""Characters of what --help says of each command: as many as 80 columns have room for."""

NARROW = 52
"""Columns below which click takes a terminal for wider than it is."""

LONGEST_NAME = 64
"""Characters of a command of the person's own, which is a file's name."""


class Sections(click.Group):
    """A group whose --help lists its commands in sections."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each section; a command that is in none stands in the last one."""
        names = [name for name in self.list_commands(ctx) if not self.commands[name].hidden]
        placed = {name for section in SECTIONS.values() for name in section}
        widest = max(map(len, names))
        for section, wanted in {**SECTIONS, "More": tuple(sorted({*names} - placed))}.items():
            shown = [name for name in wanted if name in names]
            limit = max(formatter.width - 6 - widest, LEAST)  # which is wrapped where there is less room
            rows = [(name.ljust(widest), self.commands[name].get_short_help_str(limit)) for name in shown]
            if rows:
                with formatter.section(section):
                    formatter.write_dl(rows)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the exit codes, each in a line; on a narrow terminal wrapped."""
        if formatter.width >= NARROW - 2:
            super().format_epilog(ctx, formatter)
            return
        with formatter.section("Exit codes"):
            formatter.write_dl(re.findall(r"^ +(\d+)  (.+)$", EPILOG, re.MULTILINE))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command of nakari, else the person's own: `command` in a file of that name in the tools folder."""
        return super().get_command(ctx, cmd_name) or _own_command(ctx, cmd_name)


def _own_command(ctx: click.Context, name: str) -> click.Command | None:
    if not name.isidentifier() or len(name) > LONGEST_NAME:
        return None
    from agent.tools.registry.discovery import COMMAND, load_file, told
    from appliance.config.load import load

    file = load(ctx.params.get("file"), wrong=[]).tools_folder / f"{name}.py"
    if not file.is_file():
        return None
    try:
        command = vars(load_file(file)).get(COMMAND)
    except (Exception, SystemExit) as error:  # whatever a stranger's file does
        raise ConfigError(f"{file}: {told(error, file.name)}; correct it") from error
    return command if isinstance(command, click.Command) else None


class _Place(click.Path):
    """A path that says something: an empty one would be the present folder."""

    def convert(self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None) -> Path:
        if not str(value):
            self.fail("there is nothing in it", param, ctx)
        return Path(value)


class _Text(click.ParamType[str]):
    """A text in UTF-8: what the shell hands over may be any bytes."""

    name = "text"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            value.encode()
        except UnicodeEncodeError:
            self.fail("it holds bytes that are no UTF-8 text", param, ctx)
        return value


class _Words(_Text):
    """A text that says something, in at most so many characters."""

    def __init__(self, most: int | None = None) -> None:
        self.most = most

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not value.strip():
            self.fail("there is nothing in it", param, ctx)
        if self.most is not None and len(value) > self.most:
            self.fail(f"it is longer than {self.most} characters", param, ctx)
        return super().convert(value, param, ctx)


def help_width() -> int | None:
    """Return how wide --help may be on a narrow terminal; None where click knows that itself."""
    columns = shutil.get_terminal_size().columns
    return max(columns - 2, 20) if columns < NARROW else None


PATH = _Place(path_type=Path)
TEXT = _Text()
WORDS = _Words()
NAME = _Words(200)
"""As long as the door takes one (`appliance.api.register.Name`)."""
AS_KEY = click.option(
    "--as", "key_file", type=PATH, metavar="KEYFILE", help="As whoever has this private key, not as the household."
)


def _version(context: click.Context, parameter: click.Parameter, is_asked: bool) -> None:
    if is_asked:
        from appliance import version

        click.echo(f"nakari {version.named()}")
        context.exit()


@click.group(
    cls=Sections, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.option("--config", "file", type=PATH, help="The configuration file, instead of the usual one.")
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Print the version."
)
@click.pass_obj
def nakari(invocation: Invocation, file: Path | None) -> None:
    """Run nakari, a voice assistant that lives in a box at home; talk to it; look after it."""
    invocation.file = file


def to_be_made(file: Path) -> Path:
    """Return the absolute path of a new file. Raises `Problem` where its folder is none, or takes nothing."""
    path = file.absolute()
    if not (path.parent.is_dir() and os.access(path.parent, os.W_OK | os.X_OK)):
        raise Problem(
            f"{path} cannot be written: {path.parent} is no folder that you may write into; name another file",
            Exit.CANNOT_CREATE,
        )
    return path


def configured(invocation: Invocation, *, log: str = "WARNING") -> "Config":
    """Return the configuration, with privacy and logging (to stderr from level `log` on) set up."""
    import logging

    config = loaded(invocation)
    from appliance.logs.configure import configure, lasting

    configure(config, lasting(sys.stderr), at_least=logging.getLevelNamesMapping()[log])
    return config


def loaded(invocation: Invocation) -> "Config":
    """Return the configuration, with privacy set up and nothing logged."""
    from appliance.config.load import keep_private, load

    keep_private()
    invocation.config = load(invocation.file)
    return invocation.config
