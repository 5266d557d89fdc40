"""The command `nakari`: every failure ends as one sentence on stderr and a documented exit code, never a traceback."""

import os
import re
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from types import FrameType
from typing import Final

import click

from appliance.cli import nakari
from appliance.cli.connect.shell import COMPLETE
from appliance.cli.root import help_width
from appliance.cli.terminal import JOINERS, settle
from appliance.config.options import Invocation
from appliance.errors import INTERRUPTED, NOBODY_READS, Exit, first_of, problem_of
from appliance.footprint import collect_seldom, leave_to_the_end
from appliance.hints import typed_here

LONGEST = 800
"""Characters of a sentence; what is more comes from an argument, and is left out of the middle."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code; `arguments` are the process's own when None, --help when empty."""
    is_own_process = arguments is None
    ended_by: list[int] = []
    if is_own_process:
        collect_seldom()
        _end_in_order(ended_by)
    _prepare_streams()
    given = sys.argv[1:] if arguments is None else list(arguments)
    invocation = Invocation()

    def run() -> int:
        # Where a shell asks for completions, by a variable that click reads, this answers it and ends the process.
        nakari._main_shell_completion({}, "nakari", COMPLETE)
        asked = nakari.make_context("nakari", given or ["--help"], obj=invocation, terminal_width=help_width())
        with asked as context:
            code = nakari.invoke(context)
        sys.stdout.flush()
        return int(code or 0)  # a command of the person's own need not say how it went

    code = conclude(run, invocation)
    settle(sys.stderr)
    for number in ended_by:  # whoever sent it sees what it did
        signal.raise_signal(number)
    if is_own_process:
        leave_to_the_end()
    return code


def conclude(run: Callable[[], int], invocation: Invocation) -> int:
    """Run and return the exit code; whatever is raised becomes a sentence on stderr and its code."""
    try:
        return run()
    except click.exceptions.Exit as done:  # after --help
        return done.exit_code
    except click.ClickException as wrong:
        return _say(_misused(wrong), Exit.USAGE)
    except (KeyboardInterrupt, click.Abort):  # the latter of a question that Ctrl-C answers
        return INTERRUPTED
    except BrokenPipeError:
        settle(sys.stdout)
        return NOBODY_READS
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001  the outermost edge: nothing reaches the person as a traceback
        return _failed(error, invocation)


def _end_in_order(ended_by: list[int]) -> None:
    """Have the first SIGTERM, or hang-up of a terminal, end a command as Ctrl-C does: nothing half made is left behind.

    The second one kills. The service has its own way (`appliance.service`); what nohup ignores stays ignored.
    """

    def end(number: int, frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        ended_by.append(number)
        on_ctrl_c = signal.getsignal(signal.SIGINT)
        if not callable(on_ctrl_c):  # a shell's background job has no Ctrl-C
            raise KeyboardInterrupt
        on_ctrl_c(signal.SIGINT, frame)

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, end)


def _prepare_streams() -> None:
    """Give closed streams something to read from and to write to, and let no terminal's alphabet stop a sentence."""
    sys.stdin = sys.stdin or os.fdopen(os.open(os.devnull, os.O_RDONLY))
    sys.stdout = sys.stdout or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    sys.stderr = sys.stderr or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    with suppress(OSError, ValueError):  # sounddevice sends descriptor 2 to nowhere while PortAudio starts
        lasting = os.dup(sys.stderr.fileno())
        sys.stderr = os.fdopen(lasting, "w", buffering=1, encoding=sys.stderr.encoding, errors="backslashreplace")


_IN_PLAIN_WORDS: Final = (
    (re.compile(r"is not in the range (-?\d+)<=x<=(-?\d+)\."), r"is none from \1 to \2"),
    (re.compile(r"is not a valid integer(?: range)?\."), "is no whole number"),
    (re.compile(r"is not a valid float(?: range)?\."), "is no number"),
)
"""What click says of a number, and what is said in its place."""


def _misused(wrong: click.ClickException) -> str:
    asked = wrong.ctx if isinstance(wrong, click.UsageError) else None
    said = wrong.format_message()
    for theirs, ours in _IN_PLAIN_WORDS:
        said = theirs.sub(ours, said)
    if asked and isinstance(asked.command, click.Group) and said == "Missing command.":
        said = f"Missing command: {_listed(asked.command.list_commands(asked))}"
    return f"{said} (see `{asked.command_path if asked else 'nakari'} --help`)"


def _listed(names: Sequence[str]) -> str:
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _failed(error: BaseException, invocation: Invocation) -> int:
    is_read = settle(sys.stdout)
    if not is_read and isinstance(first_of(error), BrokenPipeError):  # of a task that wrote what was found
        return NOBODY_READS
    config = invocation.config
    if config is not None and config.debug:
        traceback.print_exception(error)
    problem = problem_of(error)
    if problem is not None:
        return _say(problem.sentence, problem.code)
    if config is None:
        return _say(f"internal error ({_where(error)}) before logging began; please report it", Exit.INTERNAL)
    from appliance.logs.configure import keep_crash, redaction_of

    redaction = redaction_of(config)
    kept = keep_crash(error, redaction, config.state_folder)
    where = redaction.clean(_where(error))
    logged = f"logged in {kept}" if kept else "and it could not be logged"
    return _say(f"internal error ({where}), {logged}; please report it", Exit.INTERNAL)


def _where(error: BaseException) -> str:
    """Return what was raised and where, in a line."""
    error = first_of(error)
    frames = traceback.extract_tb(error.__traceback__)
    place = f" in {Path(frames[-1].filename).name} line {frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}: {error}{place}"


def _say(sentence: str, code: int) -> int:
    line = "".join(
        each if each.isprintable() or each in JOINERS else "?" for each in " ".join(typed_here(sentence).split())
    )
    if len(line) > LONGEST:
        line = f"{line[: LONGEST // 2]} … {line[-LONGEST // 2 :]}"
    with suppress(OSError):  # nobody may be there to read that either
        sys.stderr.write(f"nakari: {line}\n")
        sys.stderr.flush()
    return int(code)
