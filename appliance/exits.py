"""Exit codes of the `nakari` command, after sysexits.h; docs/manual.md documents them."""

from enum import IntEnum
from typing import Final


class Exit(IntEnum):
    """What a script or systemd can rely on."""

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
