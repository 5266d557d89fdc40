"""What may be asked at the door of the memory: its four tools, and all that keeps it."""

from typing import Annotated, Literal, TypeAlias

from pydantic import AwareDatetime, Field, JsonValue

from appliance.api.request_model import Asked, Name, Words

NEWEST = "newest"
"""Names the newest snapshot."""
NOW = "now"
"""Names the graph as it is, where two are compared."""


class Tools(Asked):
    """Which tools the memory has."""

    do: Literal["tools"]


class UseTool(Asked):
    """Another program uses one of them, within the same guard as it."""

    do: Literal["tool"]
    name: Name
    arguments: dict[str, JsonValue] = Field(default_factory=dict)
    source: Literal["cli", "mcp"] = "cli"
    """Who it was, for the audit log."""


class TakeSnapshot(Asked):
    """Write the graph into the snapshots' folder."""

    do: Literal["memory.snapshot"] = "memory.snapshot"


class ListSnapshots(Asked):
    """Which snapshots there are."""

    do: Literal["memory.list"] = "memory.list"


class Restore(Asked):
    """Make the graph what a snapshot holds."""

    do: Literal["memory.restore"] = "memory.restore"
    snapshot: Words = NEWEST
    """A file's name among the snapshots, the path of one, or `NEWEST`."""


class HandOver(Asked):
    """Make room in the state folder for a snapshot that lies, or is to lie, where the service cannot go: root's home.

    The answer names the `file`, empty and readable by it, in a folder of its own. Whoever asked fills it and restores
    from there, or has another one written beside it and takes that away; and removes the folder.
    """

    do: Literal["memory.hand_over"] = "memory.hand_over"
    name: Name
    """The file's own."""


class Diff(Asked):
    """What came and went between two snapshots."""

    do: Literal["memory.diff"] = "memory.diff"
    before: Words
    after: Words = NOW


class Replay(Asked):
    """Make the graph again from snapshot and audit log, beside the present one."""

    do: Literal["memory.replay"] = "memory.replay"
    until: AwareDatetime | None = None
    """None is now."""
    file: str = ""
    """Where to write what came out, as a snapshot; "" nowhere."""


class Past(Asked):
    """Ask the graph as it was."""

    do: Literal["memory.past"] = "memory.past"
    until: AwareDatetime
    cypher: Words
    params: dict[str, JsonValue] = Field(default_factory=dict)


class ReadAudit(Asked):
    """The newest records of the audit log."""

    do: Literal["memory.audit"] = "memory.audit"
    last: Annotated[int, Field(ge=1, le=1000)] = 20


class VerifyAudit(Asked):
    """Whether the audit log is as it was written."""

    do: Literal["memory.verify"] = "memory.verify"


class Backup(Asked):
    """Write everything it is into a file."""

    do: Literal["backup"] = "backup"
    file: str = ""
    """A new file; "" is one in the state folder, named in the answer, which whoever asked takes away from there.

    systemd lets the service write nowhere else.
    """


MemoryRequest: TypeAlias = (
    TakeSnapshot | ListSnapshots | Restore | HandOver | Diff | Replay | Past | ReadAudit | VerifyAudit | Backup
)
