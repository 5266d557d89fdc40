"""What people see: tables, colour and progress on a terminal, plain lines anywhere else and none of it with --json.

Colour follows `NO_COLOR`, `FORCE_COLOR` and `TERM=dumb`, as rich reads them. rich is imported only here, and only by
what draws on a terminal.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TextIO
from unicodedata import east_asian_width

import click

if TYPE_CHECKING:
    from rich.console import Console

OK: Final = "green"
WARNING: Final = "yellow"
FAULT: Final = "bold red"
FAINT: Final = "dim"
STRONG: Final = "bold"

GAP: Final = "  "
"""Between two columns."""


def is_terminal(stream: TextIO | None = None) -> bool:
    """Whether somebody sees it as it is written; `stream` is stdout when None."""
    try:
        return (stream or sys.stdout).isatty()
    except ValueError:  # closed
        return False


def show(text: str, style: str = "", *, err: bool = False, nl: bool = True) -> None:
    """Print a text: in this style where there is colour, and without anything that would steer a terminal.

    Anywhere else than on a terminal it is printed as it is.
    """
    stream = sys.stderr if err else sys.stdout
    if not is_terminal(stream):
        click.echo(text, err=err, nl=nl)
    elif not style:
        click.echo(printable(text), err=err, nl=nl)
    else:
        from rich.text import Text

        _console(stream).print(Text(printable(text), style=style), end="\n" if nl else "", soft_wrap=True)


def table(rows: Sequence[Sequence[str]], header: Sequence[str] = (), *, styles: Sequence[str] = ()) -> None:
    """Print rows of as many cells in columns as wide as their widest cell; the header only on a terminal.

    `styles` are of the columns, in their order. Nothing is cut off, so that what is piped is whole.
    """
    if not rows:
        return
    if not is_terminal():
        for line in columns(rows):
            click.echo(line)
        return
    from rich.text import Text

    console = _console(sys.stdout)
    shown = [header, *rows] if header else list(rows)
    widths, lines = _widths(shown), columns(shown)
    if header:
        console.print(Text(lines.pop(0), style=STRONG), soft_wrap=True)
    for cells, line in zip(rows, lines, strict=True):
        text, at = Text(line), 0
        for cell, style, width in zip(map(_in_a_line, cells), styles, widths, strict=False):
            text.stylize(style, at, at + len(cell))
            at += len(cell) + width - cell_width(cell) + len(GAP)
        console.print(text, soft_wrap=True)


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a line for each row, its cells below one another; the last cell of a row is not filled up."""
    widths = _widths(rows)
    lines = []
    for row in rows:
        cells = [_in_a_line(cell) for cell in row]
        filled = [cell + " " * (width - cell_width(cell)) for cell, width in zip(cells[:-1], widths, strict=False)]
        lines.append(GAP.join([*filled, *cells[-1:]]).rstrip())
    return lines


def cell_width(text: str) -> int:
    """Return how many columns of a terminal a text takes: Chinese letters take two."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def printable(text: str) -> str:
    """Return a text that moves no cursor and changes no colour: what people said may hold anything."""
    return "".join(letter if letter.isprintable() or letter in "\n\t" else " " for letter in text)


@contextmanager
def progress(label: str, unit: str = "") -> Iterator[Callable[[int, int], None]]:
    """Show a bar on a terminal's stderr while this lasts; hand out what tells it (done, of whole).

    Before anything is told, and for an `of` of 0, it shows that work goes on. Nothing is written anywhere else than on
    a terminal, and the bar is gone at the end. `unit` "bytes" counts sizes.
    """
    if not is_terminal(sys.stderr):
        yield _untold
        return
    from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    counted = DownloadColumn() if unit == "bytes" else MofNCompleteColumn()
    shown = (TextColumn("{task.description}"), BarColumn(), counted, TimeElapsedColumn())
    with Progress(*shown, console=_console(sys.stderr), transient=True) as bar:
        task = bar.add_task(label, total=None)

        def told(done: int, of: int) -> None:
            bar.update(task, completed=done, total=of or None)

        yield told


def _untold(done: int, of: int) -> None:
    """Take how far it has come where nobody sees it."""


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    most = max(map(len, rows))
    return [max((cell_width(_in_a_line(row[at])) for row in rows if at < len(row)), default=0) for at in range(most)]


def _in_a_line(cell: str) -> str:
    return " ".join(printable(cell).split("\n")).replace("\t", " ")


def _console(stream: TextIO) -> "Console":
    from rich.console import Console

    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    return Console(file=stream, color_system=None, markup=False, emoji=False) if console.no_color else console
