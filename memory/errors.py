"""What can go wrong with what lasts.

MemoryFailure               each sentence names the cause and the fix
├── StateUnusable           the state folder or its database cannot be used (permission, disk, newer version, in use)
│   ├── DiskFull            there is no room for what was to be kept: the same works again once there is
│   └── StateUnreadable     nothing was kept yet, or it cannot be looked at beside the service
├── GraphUnavailable        the graph's store is down, starting or unreachable: try again later
│   └── CommitUncertain     it went away during a commit: nobody knows whether the change was kept
├── GraphRefused            the store refused the statement: its text says what to write instead
│   ├── WriteNotAllowed     a write through the reading door: use memory_write
│   └── TooLarge            statement, rows, bytes or time over the limit
├── AuditBroken             the audit log is not as it was written
├── SnapshotBroken          a snapshot cannot be read, or is not what was written
├── EmbeddingUnavailable    no embedding model is configured or reachable
├── NotProven               a signature does not prove whose it is
├── RegistrationNeeded      a visitor asked for what only members have
└── SettingRefused          a setting there is not, of another type, or not an owner's to change
"""


class MemoryFailure(Exception):
    """The root: its text is one sentence for a person or for the model, with the fix."""


class StateUnusable(MemoryFailure):
    """The state folder or its database cannot be used. Fix: permissions, space, or another folder."""


class DiskFull(StateUnusable):
    """The state folder's disk has no room left. Fix: free some."""


class StateUnreadable(StateUnusable):
    """There is no state database to look at, or it cannot be read. Fix: run nakari; `nakari doctor` says more."""


class GraphUnavailable(MemoryFailure):
    """The graph's store is down, starting, or unreachable. Fix: try again; `nakari doctor` says more."""


class CommitUncertain(GraphUnavailable):
    """The answer to a commit never came. Fix: look before writing it again."""


class GraphRefused(MemoryFailure):
    """The store refused the statement. Fix: the sentence says what to write instead."""


class WriteNotAllowed(GraphRefused):
    """A write came through the reading door. Fix: memory_write."""


class TooLarge(GraphRefused):
    """A statement or its result passes a limit of size or time. Fix: ask for less at a time."""


class AuditBroken(MemoryFailure):
    """A record of the audit log is missing or was changed. Fix: the folder out of a backup."""


class SnapshotBroken(MemoryFailure):
    """A snapshot is torn, changed or of another program. Fix: an older one; the audit log has the rest."""


class EmbeddingUnavailable(MemoryFailure):
    """No embedding model. Fix: configure one; everything else works without."""


class NotProven(MemoryFailure):
    """A signature does not prove whose it is. Fix: a new challenge, signed with the key that is shown."""


class RegistrationNeeded(MemoryFailure):
    """A visitor asked for what only members have. Fix: the sentence says how to register."""


class SettingRefused(MemoryFailure):
    """A setting there is not, of another type, or the box's own. Fix: the sentence names those there are."""
