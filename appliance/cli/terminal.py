"""What people see: tables, colour and progress on a terminal, plain lines anywhere else."""

import os
import sys
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, aclosing, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final, TextIO
from unicodedata import east_asian_width

import click

from appliance.errors import Exit
from appliance.hints import typed_here

if TYPE_CHECKING:
    from click._termui_impl import ProgressBar

    from appliance.api.outcome import Outcome
    from memory.progress import Progress

OK: Final = "ok"
WARNING: Final = "warning"
FAULT: Final = "fault"
FAINT: Final = "faint"
STRONG: Final = "strong"

_STYLES: Final[Mapping[str, Callable[[str], str]]] = {
    OK: partial(click.style, fg="green"),
    WARNING: partial(click.style, fg="yellow"),
    FAULT: partial(click.style, fg="red", bold=True),
    FAINT: partial(click.style, dim=True),
    STRONG: partial(click.style, bold=True),
}

GAP: Final = "  "
"""Between two columns."""


def is_terminal(stream: TextIO | None = None) -> bool:
    """Whether somebody sees it as it is written; `stream` is stdout when None."""
    try:
        return (stream or sys.stdout).isatty()
    except ValueError:  # closed
        return False


def settle(stream: TextIO) -> bool:
    """Write out what is left, and return True; else point it at nothing, so that it does not fail again at the exit."""
    try:
        stream.flush()
    except OSError:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, stream.fileno())
        os.close(nothing)
        return False
    return True


def show(text: str, style: str = "", *, err: bool = False, nl: bool = True) -> None:
    """Print a text: in this style where there is colour, and without anything that would steer a terminal.

    Anywhere else than on a terminal it is printed as it is; on stderr with its commands as they are typed here.
    """
    if err:
        text = typed_here(text)
    stream = sys.stderr if err else sys.stdout
    click.echo(styled(printable(text), style, stream) if is_terminal(stream) else text, err=err, nl=nl)


def styled(text: str, style: str, stream: TextIO | None = None) -> str:
    """Return a text in this style where the stream (stdout when None) is a terminal that may have colour."""
    if not style or not is_terminal(stream):
        return text
    from appliance.config.load import shows_colour

    return _STYLES[style](text) if shows_colour() else text


def table(
    rows: Sequence[Sequence[str]], header: Sequence[str] = (), *, styles: Sequence[str] = (), none: str = ""
) -> None:
    """Print rows of as many cells in columns as wide as their widest cell; the header only on a terminal.

    `styles` are of the columns, in their order; `none` is told on stderr where there are no rows. Nothing is cut off,
    so that what is piped is whole.
    """
    if none and not rows:
        show(none, err=True)
    if header and rows and is_terminal():
        click.echo(styled(columns([header, *rows])[0], STRONG))
        lines = columns([header, *rows], styles)[1:]
    else:
        lines = columns(rows, styles)
    for line in lines:
        click.echo(line)


def columns(rows: Sequence[Sequence[str]], styles: Sequence[str] = ()) -> list[str]:
    """Return a line for each row, its cells below one another; the last cell of a row is not filled up."""
    cells = [[_in_a_line(cell) for cell in row] for row in rows]
    most = max(map(len, cells), default=0)
    widths = [max(cell_width(row[at]) for row in cells if at < len(row)) for at in range(most)]
    lines = []
    for row in cells:
        filled = []
        for cell, width, style in zip(row, widths, [*styles, *[""] * most], strict=False):
            filled.append(styled(cell, style) + " " * (width - cell_width(cell)))
        lines.append(GAP.join(filled).rstrip())
    return lines


def cell_width(text: str) -> int:
    """Return how many columns of a terminal a text takes: Chinese letters take two, what joins letters none."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text if letter not in JOINERS)


JOINERS: Final = "\u200c\u200d"
"""What joins letters, and keeps them apart: Persian is written with it, and a family is one picture by it."""


def printable(text: str) -> str:
    """Return a text that moves no cursor and changes no colour: what people said may hold anything.

    Marks that turn the direction are no part of it: they can hide what stands there.
    """
    return "".join(letter if letter.isprintable() or letter in f"\n\t{JOINERS}" else " " for letter in text)


def show_above(line: str) -> None:
    """Print a line of what was asked for while a bar is shown: the bar's line is cleared, and drawn again below."""
    if is_terminal() and is_terminal(sys.stderr):
        click.echo("\r\x1b[K", nl=False, err=True)
    click.echo(line)
    sys.stdout.flush()


def require_somebody(what: str) -> None:
    """Raise `UsageError` where nobody can be asked whether `what` would happen is meant."""
    if not is_terminal(sys.stdin):
        raise click.UsageError(f"{what}; say --yes where nobody can be asked")


def confirm(question: str) -> None:
    """Ask, on a terminal. Raises click's `Exit` for a no."""
    if not click.confirm(question, err=True):
        raise click.exceptions.Exit(Exit.FAULT)


async def print_pieces(pieces: "AsyncGenerator[str | Outcome, None]") -> "Outcome | None":
    """Print an answer as it comes, and a line break at its end; return the outcome, None where it was completed.

    What it says goes to stderr: it is no part of the answer.
    """
    last, outcome = "", None
    async with aclosing(pieces):
        async for piece in pieces:
            if not isinstance(piece, str):
                outcome = piece
                continue
            click.echo(printable(piece), nl=False)  # a model's words may hold anything too
            last = piece or last
    if not last.endswith("\n") and (last or outcome is None):
        click.echo()
    if outcome is not None:
        show(typed_here(str(outcome)), WARNING, err=True)
    return outcome


@contextmanager
def progress(label: str) -> "Iterator[Progress]":
    """Show a bar on a terminal's stderr while this lasts; hand out what tells it (done, of whole).

    Before anything is told it shows the label alone. Nothing is written anywhere else than on a terminal.
    """
    if not is_terminal(sys.stderr):
        from memory.progress import silently

        yield silently
        return
    bar: ProgressBar[int] | None = None

    def told(done: int, of: int) -> None:
        nonlocal bar
        if bar is None and of > 0:
            bar = shown.enter_context(click.progressbar(length=of, label=label, file=sys.stderr))
        if bar is not None:
            bar.length = of
            bar.update(done - bar.pos)

    click.echo(f"{label} …", nl=False, err=True)
    with ExitStack() as shown:
        try:
            yield told
        finally:
            if bar is None:
                click.echo(f"\r{' ' * (cell_width(label) + 2)}\r", nl=False, err=True)


def _in_a_line(cell: str) -> str:
    return " ".join(printable(cell).replace("\t", " ").splitlines())
