"""Brings a state folder that an earlier nakari left to the layout of this one, on a copy; a later one's is refused."""

import asyncio
import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, TypeAlias

import structlog

from agent.event import utc_now
from appliance.admin import exchange
from appliance.version import version
from memory.durable import replace_durably
from memory.errors import StateUnusable
from memory.json_value import Json
from memory.progress import Progress, silently
from memory.state.failures import folder_unusable
from memory.state.images import FOLDER

log = structlog.get_logger()

Step: TypeAlias = Callable[[Path], None]
"""Changes a copy of a state folder, in which nothing is open; what it raises leaves the state as it is."""

STEPS: Final[tuple[Step, ...]] = ()
"""The nth leads from layout n to n + 1; the present layout is one more than there are steps.

Whatever changes how something in the folder is written has a step, so that the nakari before finds its own state again
when it has to come back: database, audit log, snapshots, phrases, voices, calendars. Also where a store mends itself
(`memory.state.database.MIGRATIONS`): its step does nothing.
"""

FILE: Final = "layout.json"
"""Which layout the folder has, and which nakari made it so. Layout 1 was made without it at first."""

COPY: Final = "upgrading"
"""The folder that a copy is made and changed in."""

MARK: Final = "-upgrade"
"""Ends the name of the folder that the state before an upgrade is put aside in."""

KEPT: Final = timedelta(days=14)
"""For which it stays there: it holds what was said, also what is forgotten meanwhile."""

LOOK_SECONDS: Final = 6 * 3600.0
"""Between two looks for what was kept long enough."""

SPARE: Final = 50_000_000
"""Bytes that are to be free beside the copy, so that what runs afterwards finds some."""

LIVED: Final = ("audit", "snapshots", "graph", FOLDER)
"""Folders that are made once the state database is: what is in one shows that there was such a database.

The layout's own file does not: it comes first, so that a first start may be killed before the database is written.
"""

MEND: Final = "install that one again, or go back to a state of before"


class LaterLayout(StateUnusable):
    """A later nakari wrote the state. Fix: install that one again, or go back to a state of before."""


def bring_to_date(state: Path, told: Progress = silently, steps: Sequence[Step] = STEPS) -> None:
    """Bring a state folder to the present layout, a new one too, and finish an exchange that was begun. Blocking.

    Cut off at any moment the folder is what it was, or becomes what it is to be when it is opened next; what it was is
    put aside (`MARK`). Whoever opens the folder comes through here first. Raises `StateUnusable` for a later layout, no
    room, a step that fails, and `StateInUse`; nothing is changed then.
    """
    exchange.finish(state)
    if _checked(state, steps) == _present(steps):
        return
    with exchange.alone(state):
        found = _checked(state, steps)  # somebody else may have been quicker
        if found == _present(steps) or (found is None and not steps) or _is_new(state):
            _note(state, steps)
            return
        _upgrade(state, found or 1, steps, told)
    exchange.finish(state)
    log.info("state_upgraded", layout=_present(steps), before=found or 1)


def check(state: Path) -> None:
    """Raise `LaterLayout` for the state of a nakari later than this one, else `StateUnusable` where it is damaged."""
    _checked(state, STEPS)


def put_aside(state: Path) -> list[Path]:
    """Return where the states of before upgrades are, the latest last. Blocking."""
    return sorted(state.glob(f"{exchange.ASIDE}*{MARK}"))


def remove_old(state: Path, now: datetime) -> None:
    """Remove what upgrades put aside `KEPT` ago. Blocking."""
    for folder in put_aside(state):
        with suppress(ValueError):  # a person's own name
            if now - exchange.moment_of(folder.name.removesuffix(MARK)) > KEPT:
                shutil.rmtree(folder, ignore_errors=True)


async def forget_in_time(state: Path, now: Callable[[], datetime] = utc_now) -> None:
    """Remove what upgrades put aside when its time is over, until cancelled. `now` is aware."""
    while True:
        await asyncio.to_thread(remove_old, state, now())
        await asyncio.sleep(LOOK_SECONDS)


def _is_new(state: Path) -> bool:
    return not any(_is_copied(item, is_top=True) for item in state.iterdir() if item.name != FILE)


def _present(steps: Sequence[Step]) -> int:
    return len(steps) + 1


def _checked(state: Path, steps: Sequence[Step]) -> int | None:
    """Return the folder's layout, None where nothing says it.

    Raises `StateUnusable` for a later one, and for a database that was emptied: it would be taken for a new box's.
    """
    _refuse_emptied(state)
    file = state / FILE
    try:
        said = json.loads(file.read_bytes())
        layout, maker = int(said["layout"]), str(said["nakari"])
    except FileNotFoundError:
        return None
    except PermissionError as error:
        mend = f"run this as that user, or give this one all that is in there: sudo chown -R USER {state}"
        raise StateUnusable(f"{file} is another user's; {mend}") from error
    except OSError as error:
        if not state.is_dir():
            raise folder_unusable(state, OSError(error.errno, error.strerror, str(state))) from error
        mend = "make it readable for this user, or restore it from a backup"
        raise StateUnusable(f"{file} cannot be read ({error.strerror}); {mend}") from error
    except (ArithmeticError, ValueError, LookupError, TypeError, RecursionError) as error:
        what = f"{file} is damaged: it does not say which layout the state has"
        mine = f'write {{"layout": {_present(steps)}, "nakari": "{version()}"}} into it if this version made the state'
        raise StateUnusable(f"{what}; restore it from a backup, or {mine}") from error
    if layout > _present(steps):
        asides = put_aside(state)
        mend = f"{MEND}: nakari restore {asides[-1] if asides else 'BACKUP'}"
        what = f"was written by a newer nakari ({maker}, with layout {layout} where this one knows {_present(steps)})"
        raise LaterLayout(f"the state folder {state} {what}; {mend}")
    return layout


def _refuse_emptied(state: Path) -> None:
    database = state / exchange.DATABASE
    if not database.is_file() or database.stat().st_size:
        return
    lived = [name for name in LIVED if (state / name).is_dir() and any((state / name).iterdir())]
    if lived:
        what = f"the state database {database} is empty, and was not: the folder still has {', '.join(lived)}"
        raise StateUnusable(f"{what}; restore a backup, or move {state} away to begin anew")


def _note(folder: Path, steps: Sequence[Step]) -> None:
    said: dict[str, Json] = {"layout": _present(steps), "nakari": version()}
    try:
        replace_durably(folder / FILE, [json.dumps(said).encode()])
    except OSError as error:
        raise folder_unusable(folder, error) from error


def _upgrade(state: Path, found: int, steps: Sequence[Step], told: Progress) -> None:
    """Change a copy step by step, and decide for it."""
    place = state / COPY
    what = f"the state in {state} could not be brought to layout {_present(steps)}"
    try:
        shutil.rmtree(place, ignore_errors=True)
        _copy(state, place, told)
        for step in steps[found - 1 :]:
            step(place)
        _note(place, steps)
        exchange.begin(state, place, MARK)
    except OSError as error:
        raise StateUnusable(f"{what} ({error.strerror}); it is as it was. Free some disk space") from error
    except (sqlite3.Error, ValueError, LookupError, TypeError, AttributeError) as error:
        raise StateUnusable(f"{what} ({error}); it is as it was. Install the nakari before this one") from error
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _copy(state: Path, place: Path, told: Progress) -> None:
    """Copy what an exchange would replace. Raises OSError, `StateUnusable` where there is no room for it."""

    def left_out(folder: str, names: list[str]) -> set[str]:
        items = [Path(folder, name) for name in names]
        return {item.name for item in items if not _is_copied(item, is_top=Path(folder) == state)}

    whole = sum(file.stat().st_size for file in _files(state))
    free = shutil.disk_usage(state).free
    if free < whole + SPARE:
        what = f"the state in {state} has to be copied before this nakari can use it, which takes {whole >> 20} MB"
        raise StateUnusable(f"{what}, and {free >> 20} MB are free; free some disk space")
    done = 0

    def copied(source: str, target: str) -> None:
        nonlocal done
        shutil.copy2(source, target, follow_symlinks=False)
        done += os.lstat(target).st_size
        told(done, whole)

    shutil.copytree(state, place, symlinks=True, ignore=left_out, copy_function=copied)


def _files(state: Path) -> list[Path]:
    tops = [item for item in state.iterdir() if _is_copied(item, is_top=True)]
    return [file for top in tops for file in (top, *top.rglob("*")) if file.is_file()]


def _is_copied(item: Path, *, is_top: bool) -> bool:
    """Whether a file or folder is part of the state: no model, no lock, no socket, no state that was put aside."""
    if item.is_socket() or item.is_fifo() or item.name.endswith("-shm"):
        return False
    return not is_top or exchange.is_state(item)
