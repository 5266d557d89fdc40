"""Replaces the whole state by renames: cut off at any moment, it is the old one, or becomes the new one."""

import os
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from memory.durable import sync_folder
from memory.errors import StateUnusable
from memory.lock import is_locked, lock, unlock
from memory.state.database import DatabaseView, locked
from memory.state.failures import folder_unusable

DATABASE: Final = "nakari.db"
MANIFEST: Final = "manifest.json"
"""Of an archive: it says what came, and is no part of the state."""

STAYS: Final = ("models", "logs", ".config", ".cache")
"""Of what was there: it is in no archive and need not be fetched again, or libraries keep it in the service's home."""

COMING: Final = "coming-"
"""How the new state's folder is called while the old one is put aside."""

ARRIVING: Final = "arriving-"
"""How it is called while what is in it is put in its place."""

ASIDE: Final = "before-"

STAMP: Final = "%Y%m%dT%H%M%S%fZ"
"""What follows in each name: the moment at which it was begun, in UTC."""


def begin(state: Path, new: Path, mark: str = "") -> Path:
    """Decide for the state in the folder `new`, inside of `state`; return where the old one will be kept.

    `mark` ends that name. Until this returns the old one is the state, afterwards the new one: `finish` does what is
    left. Whoever calls holds the state's lock. Raises OSError.
    """
    stamp = f"{datetime.now(UTC):{STAMP}}{mark}"
    os.sync()  # what was unpacked is whole on the disk before anything depends on it
    new.rename(state / f"{COMING}{stamp}")
    sync_folder(state)
    return state / f"{ASIDE}{stamp}"


def finish(state: Path) -> None:
    """Go on with an exchange that was begun, to its end; do nothing where none was. Blocking.

    Nobody has the state open while one is begun: whoever opens it comes through here first. Raises `StateUnusable` when
    the folder cannot be written.
    """
    if not any(next(state.glob(f"{name}*"), None) for name in (COMING, ARRIVING)):
        return
    try:
        with _locked(state):
            for coming in state.glob(f"{COMING}*"):
                _put_aside(state, state / coming.name.replace(COMING, ASIDE, 1))
                coming.rename(state / coming.name.replace(COMING, ARRIVING, 1))
                sync_folder(state)
            for arriving in state.glob(f"{ARRIVING}*"):
                _put_in_place(arriving, state)
    except OSError as error:
        raise StateUnusable(
            f"what was restored cannot be put in place in {state} ({error.strerror}): make it writable for this user"
        ) from error


@contextmanager
def alone(state: Path) -> Iterator[None]:
    """Hold a state folder for this process alone, whatever is in it; what was begun is finished before.

    Raises `StateInUse` when another nakari has it, `StateUnusable` when it cannot be written.
    """
    finish(state)
    try:
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = locked(state / DATABASE)
    except OSError as error:
        raise folder_unusable(state, error) from error
    try:
        yield
    finally:
        unlock(descriptor)


def is_used(state: Path) -> bool:
    """Whether a process has the state of a folder open."""
    return is_locked(state / f"{DATABASE}.lock")


@asynccontextmanager
async def viewed(state: Path) -> AsyncIterator[DatabaseView]:
    """Read the database of a state folder beside whoever has it. Raises `StateUnreadable`."""
    view = DatabaseView(state / DATABASE)
    await view.open()
    try:
        yield view
    finally:
        await view.close()


def moment_of(name: str) -> datetime:
    """Return when a state was put aside, by its folder's name without a mark, aware. Raises ValueError."""
    return datetime.strptime(name, f"{ASIDE}{STAMP}").replace(tzinfo=UTC)


def is_state(item: Path) -> bool:
    """Whether an exchange takes a file or folder of a state folder away with the state."""
    return not (_stays(item) or item.name.startswith((COMING, ARRIVING, ASIDE)))


@contextmanager
def _locked(state: Path) -> Iterator[None]:
    """Hold the state's own lock, waiting for it: who has it began this exchange, or is at its end."""
    descriptor = lock(state / f"{DATABASE}.lock", waits=True)
    try:
        yield
    finally:
        unlock(descriptor)


def _put_aside(state: Path, before: Path) -> None:
    before.mkdir(mode=0o700, exist_ok=True)
    for item in state.iterdir():
        if is_state(item):
            item.rename(before / item.name)
    sync_folder(before)


def _put_in_place(arriving: Path, state: Path) -> None:
    for item in arriving.iterdir():
        if not (_stays(item) or item.name == MANIFEST):
            there = state / item.name
            if there.is_dir() and not there.is_symlink():
                shutil.rmtree(there)  # made since the old one was put aside, and no part of either
            item.rename(there)
    sync_folder(state)
    shutil.rmtree(arriving)


def _stays(item: Path) -> bool:
    return item.name in STAYS or item.suffix == ".lock"
