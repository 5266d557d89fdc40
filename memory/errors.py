"""What can go wrong with what lasts.

MemoryFailure               each sentence names the cause and the fix
├── StateUnusable           the state folder or its database cannot be used (permission, disk, newer version, in use)
│   ├── DiskFull            there is no room for what was to be kept: the same works again once there is
│   ├── DiskSilent          the disk does not answer: what was begun may be done once it does
│   ├── StateUnreadable     nothing was kept yet, or it cannot be looked at beside the service
│   └── Unconfirmed         the household's engine did not confirm it: perhaps another machine leads by now
│       └── Superseded      another machine leads the household, and alone may write
├── GraphUnavailable        the graph's store is down, starting or unreachable: try again later
│   └── CommitUncertain     it went away during a commit: nobody knows whether the change was kept
├── GraphRefused            the store refused the statement: its text says what to write instead
│   ├── WriteNotAllowed     a write through the reading door: use memory_write
│   └── TooLarge            statement, rows, bytes or time over the limit
├── AuditBroken             the audit log is not as it was written
├── SnapshotBroken          a snapshot cannot be read, or is not what was written
├── EmbeddingUnavailable    no embedding model is configured or reachable
├── EngineFailure           the engine between the machines (NATS, Redis) did not do what was asked
│   ├── EngineUnreachable   it is away, starting or too slow, and surely nothing of the call was kept: try again later
│   │   └── EngineFull      it is there, and has no room for what was to be kept
│   ├── OutcomeUnknown      the answer never came: nobody knows yet whether it was kept
│   ├── EngineRefused       wrong login, no JetStream, too large, a newer version: trying again does not help
│   ├── LogMoved            the log's end is not where the caller thought: somebody else appended
│   ├── LogDropped          what was asked for was dropped from the log: the newest snapshot has it
│   ├── LogLost             the log ends before what was read from it once: another server, or an emptied one
│   ├── KeyMoved            the key is not at the revision that the caller thought: somebody else changed it
│   ├── NobodyServes        no machine answers requests of this topic now
│   └── BlobMissing         there is no blob of this name, or it is torn
├── NotProven               a signature does not prove whose it is
├── RegistrationNeeded      a visitor asked for what only members have
└── SettingRefused          a setting there is not, of another type, or not an owner's to change
"""


class MemoryFailure(Exception):
    """The root: its text is one sentence for a person or for the model, with the fix."""


class StateUnusable(MemoryFailure):
    """The state folder or its database cannot be used. Fix: permissions, space, a newer nakari, or another folder."""


class DiskFull(StateUnusable):
    """The state folder's disk has no room left. Fix: free some."""


class DiskSilent(StateUnusable):
    """The disk does not answer: a write that was begun may be done yet. Fix: see with dmesg whether it fails."""


class StateUnreadable(StateUnusable):
    """There is no state database to look at, or it cannot be read. Fix: run nakari; `nakari doctor` says more."""


class Unconfirmed(StateUnusable):
    """The household's engine did not confirm a write, so nothing may be done that depends on it. Fix: mend the way."""


class Superseded(Unconfirmed):
    """Another machine leads the household, and alone may write. Fix: ask that one; this one follows it."""


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


class EngineFailure(MemoryFailure):
    """The engine between the machines (NATS, Redis) did not do what was asked. Fix: the sentence says it."""


class EngineUnreachable(EngineFailure):
    """The engine is away, and nothing of this call was kept or will be. Fix: try again; `nakari doctor` says more."""


class EngineFull(EngineUnreachable):
    """The engine has no room. Fix: free some on its disk, or raise its limit."""


class OutcomeUnknown(EngineFailure):
    """The engine's answer never came: kept, not kept, or yet to be. Fix: look, or do the same again with its id."""


class EngineRefused(EngineFailure):
    """The engine does not let this be done: login, JetStream, size, version. Fix: the sentence says what to set."""


class LogMoved(EngineFailure):
    """Somebody else appended to the log. Fix: read on from where the caller thought the end was."""

    def __init__(self, sentence: str, end: int) -> None:
        super().__init__(sentence)
        self.end = end
        """Position of the log's last record when it refused."""


class LogDropped(EngineFailure):
    """Records that were asked for were dropped from the log. Fix: the newest snapshot, and the log after it."""


class LogLost(EngineFailure):
    """The log ends before a position that was read once. Fix: the engine's own backup, or a new household there."""


class KeyMoved(EngineFailure):
    """Somebody else changed the key. Fix: get it, and decide anew."""


class NobodyServes(EngineFailure):
    """No machine serves the topic at this moment. Fix: try again when one does."""


class BlobMissing(EngineFailure):
    """No blob of this name, or not all of it. Fix: another one of `names`."""


class NotProven(MemoryFailure):
    """A signature does not prove whose it is. Fix: a new challenge, signed with the key that is shown."""


class RegistrationNeeded(MemoryFailure):
    """A visitor asked for what only members have. Fix: the sentence says how to register."""


class SettingRefused(MemoryFailure):
    """A setting there is not, of another type, or the box's own. Fix: the sentence names those there are."""
