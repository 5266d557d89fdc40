"""What can go wrong with the box, and which exit code ends the command for every failure of every part.

Problem                     one sentence for a person, with the fix, and its exit code
├── ConfigError             78: the configuration file or a value in it is wrong
├── AlreadyRunning          75: another nakari lives here
└── ServiceNotRunning       69: nobody answers at the socket; `ask` then runs once by itself
"""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path
from typing import Final


class Exit(IntEnum):
    """What a script or systemd can rely on, after sysexits.h; docs/manual.md documents it."""

    OK = 0
    FAULT = 1
    """It ran, but the answer is no: doctor found a fault, the demo heard something else than was meant."""
    USAGE = 2
    """The command line itself is wrong (click's code)."""
    NO_INPUT = 66
    """What was named is not there: a file given as input (or it is not sound), an event, a member, a token, a model."""
    UNAVAILABLE = 69
    """A part that this command cannot do without is not there."""
    INTERNAL = 70
    """A bug of ours; the log has it, please report it."""
    CANNOT_CREATE = 73
    """The state folder or the output file cannot be written."""
    ALREADY_RUNNING = 75
    """Another nakari uses this state folder."""
    NOT_ALLOWED = 77
    """It is not theirs to ask: a key is not proven, a visitor wants what members have, an owner what is the house's."""
    CONFIG = 78
    """The configuration is wrong; systemd does not restart on it."""
    LATER = 79
    """What was asked is put aside, and goes on by itself (sysexits.h ends at 78); so does a service that moved."""


INTERRUPTED: Final = 130
"""Ctrl-C; 128 + SIGINT, as shells have it."""

NOBODY_READS: Final = 141
"""Whoever read the output is gone; 128 + SIGPIPE, as shells have it."""

_NOT_READABLE = frozenset({errno.ENOENT, errno.EISDIR, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP})
_NOT_WRITABLE = frozenset(
    {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EEXIST, errno.EFBIG, errno.EIO}
)
_TOO_MANY = frozenset({errno.EMFILE, errno.ENFILE})
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class Problem(Exception):
    """The root: a sentence for a person, with the fix, and the exit code that goes with it."""

    def __init__(self, sentence: str, code: Exit) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.code = code


class ConfigError(Problem):
    """The configuration is wrong. Fix: the sentence names file, line and key."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, Exit.CONFIG)


class AlreadyRunning(Problem):
    """Another nakari holds the socket or the state folder. Fix: stop it, or give this one a folder of its own."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, Exit.ALREADY_RUNNING)


class ServiceNotRunning(Problem):
    """Nobody answers at the socket; `ask` then runs once by itself. Fix: start the service."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, Exit.UNAVAILABLE)


@contextmanager
def in_room_of(folder: Path, what: str) -> Iterator[None]:
    """Name the disk that has no room for what the block writes: of an open file the system names none.

    `what` ends the sentence: what found no room, and the fix. Raises `Problem`, and every other OSError as it is.
    """
    try:
        yield
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise Problem(f"the disk of {folder} has no room for {what}", Exit.CANNOT_CREATE) from error
        raise


def problem_of(error: BaseException) -> Problem | None:
    """Return what to tell a person about an exception, or None for a bug of ours; a group by its `first_of`."""
    first = first_of(error)
    if isinstance(first, Problem):
        return first
    for kind, code in _known():
        if isinstance(first, kind):
            return Problem(str(first), Exit.CANNOT_CREATE if _is_refused_output(first) else code)
    return _from_system(first) if isinstance(first, OSError) else None


def first_of(error: BaseException) -> BaseException:
    """Return the first member of a group, as a TaskGroup raises it: the one that made the others end."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _known() -> tuple[tuple[type[Exception], Exit], ...]:
    """Return the failures that the other parts tell in a sentence, the narrower class first."""
    from agent.errors import ModelError, NotAttached
    from appliance.satellites.errors import SatelliteFailure, SatelliteUnknown
    from audio.errors import AudioError, BadRecording, OutputUnwritable
    from memory.errors import (
        MemoryFailure,
        NotProven,
        RegistrationNeeded,
        SettingRefused,
        StateUnreadable,
        StateUnusable,
    )
    from memory.state.database import StateInUse

    return (
        (BadRecording, Exit.NO_INPUT),
        (NotAttached, Exit.NO_INPUT),
        (OutputUnwritable, Exit.CANNOT_CREATE),
        (AudioError, Exit.UNAVAILABLE),
        (StateInUse, Exit.ALREADY_RUNNING),
        (StateUnreadable, Exit.UNAVAILABLE),
        (StateUnusable, Exit.CANNOT_CREATE),
        (NotProven, Exit.NOT_ALLOWED),
        (RegistrationNeeded, Exit.NOT_ALLOWED),
        (SettingRefused, Exit.USAGE),
        (MemoryFailure, Exit.UNAVAILABLE),
        (ModelError, Exit.UNAVAILABLE),
        (SatelliteUnknown, Exit.NO_INPUT),
        (SatelliteFailure, Exit.UNAVAILABLE),
    )


def _is_refused_output(error: BaseException) -> bool:
    """Whether it is about a file that takes the loudspeaker's place: a device error that the file system caused."""
    from audio.errors import DeviceUnavailable

    cause = error.__cause__
    is_files = isinstance(cause, OSError) and cause.errno in _NOT_READABLE | _NOT_WRITABLE
    return is_files and isinstance(error, DeviceUnavailable)


def _from_system(error: OSError) -> Problem | None:
    """Return the problem of a file that cannot be read or written, or opened; any other refusal is a bug of ours."""
    where = f"{error.filename}: " if error.filename else ""
    if error.errno in _NOT_READABLE:
        return Problem(f"{where}{error.strerror}; check the path", Exit.NO_INPUT)
    if error.errno in _NOT_WRITABLE:
        return Problem(f"{where}{error.strerror}; check permissions and free space", Exit.CANNOT_CREATE)
    if error.errno in _TOO_MANY:
        return Problem(f"{error.strerror}; let it open more, by `ulimit -n 1024` or LimitNOFILE=", Exit.UNAVAILABLE)
    return None
