"""The manual page nakari(1), of what `nakari --help` and its commands' own tell; to be run where nakari is installed.

usage: manual.py      writes to standard output
"""

import re
import sys
from collections.abc import Iterator

import click

from appliance.cli import EPILOG, nakari
from appliance.cli.root import SECTIONS

FILES = (
    ("/etc/nakari/nakari.toml", "the configuration; nakari config default tells what each key does"),
    ("/var/lib/nakari", "what it remembers, and what is to be told again after a restart"),
    ("/usr/share/doc/nakari", "the documents: README.md first"),
)


def page() -> Iterator[str]:
    """Yield the lines of the page, in roff's man macros."""
    context = click.Context(nakari, info_name="nakari")
    yield '.TH NAKARI 1 "" nakari "User Commands"'
    yield ".SH NAME\nnakari \\- voice assistant that lives in a box at home"
    yield ".SH SYNOPSIS\n.B nakari\n[\\fIOPTIONS\\fR] \\fICOMMAND\\fR [\\fIARGS\\fR]"
    yield f".SH DESCRIPTION\n{plain(nakari.help or '')}"
    yield "The service is nakari.service; its log is read by \\fBnakari logs\\fR and \\fBjournalctl \\-u nakari\\fR."
    yield "Each command has \\fB\\-\\-help\\fR."
    yield ".SH OPTIONS"
    yield from options(nakari, context)
    for section, names in SECTIONS.items():
        yield f'.SH "COMMANDS: {section.upper()}"'
        for name in names:
            yield from command("nakari", name, nakari.commands[name])
    yield ".SH EXIT STATUS"
    for code, meaning in re.findall(r"^ +(\d+)  (.+)$", EPILOG, re.MULTILINE):
        yield f".TP\n.B {code}\n{plain(meaning)}"
    yield ".SH FILES"
    for file, what in FILES:
        yield f".TP\n.I {plain(file)}\n{plain(what)}"
    yield ".SH SEE ALSO\n.BR journalctl (1),\n.BR systemctl (1)"


def command(before: str, name: str, what: click.Command) -> Iterator[str]:
    """Yield how a command is called, what it does and its options; then its own commands."""
    context = click.Context(what, info_name=name)
    usage = [piece for piece in what.collect_usage_pieces(context) if piece != "[OPTIONS]"]
    yield f".SS {plain(' '.join((before, name, *usage)))}\n{plain(what.help or '')}"
    yield from options(what, context)
    if isinstance(what, click.Group):
        for inner in sorted(what.commands):
            yield from command(f"{before} {name}", inner, what.commands[inner])


def options(what: click.Command, context: click.Context) -> Iterator[str]:
    """Yield the options; --help is the same everywhere."""
    for option in what.get_params(context):
        told = option.get_help_record(context) if isinstance(option, click.Option) else None
        if told is not None and "--help" not in option.opts:
            yield f".TP\n.B {plain(told[0])}\n{plain(told[1])}"


def plain(text: str) -> str:
    """Return a text as roff takes it for nothing but text: each paragraph a line."""
    lines = [" ".join(part.split()) for part in text.replace("\b", "").split("\n\n")]
    escaped = (line.replace("\\", "\\e").replace("-", "\\-") for line in lines if line)
    return "\n.PP\n".join(f"\\&{line}" if line[0] in ".'" else line for line in escaped)


if __name__ == "__main__":
    sys.stdout.write("\n".join(page()) + "\n")
