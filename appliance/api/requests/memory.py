"""What may be asked at the door of the memory: its four tools, and all that keeps it."""

from typing import Annotated, Final, Literal, Protocol, TypeAlias, get_args

from pydantic import AwareDatetime, Field, JsonValue

from appliance.api import answer_models as answers
from appliance.api.caller import Caller
from appliance.api.register import Answer, AnyEntry, Asked, Entry, FileName, Name, Tell, Words
from memory.json_value import Json
from memory.progress import Progress, in_hundredths

NEWEST = "newest"
"""Names the newest snapshot."""
NOW = "now"
"""Names the graph as it is, where two are compared."""


class Tools(Asked, do="tools"):
    """Which tools the memory has."""


class UseTool(Asked, do="tool"):
    """Another program uses one of them, within the same guard as it."""

    name: Name
    arguments: dict[str, JsonValue] = Field(default_factory=dict)
    source: Literal["cli", "mcp"] = "cli"
    """Who it was, for the audit log."""


class ReadSchema(Asked, do="memory.schema"):
    """What labels, properties and relations there are, with examples."""


class Query(Asked, do="memory.query"):
    """Ask the graph; what would write is refused."""

    cypher: Words
    params: dict[str, JsonValue] = Field(default_factory=dict)


class TakeSnapshot(Asked, do="memory.snapshot"):
    """Write the graph into the snapshots' folder."""


class ListSnapshots(Asked, do="memory.list"):
    """Which snapshots there are."""


class Restore(Asked, do="memory.restore"):
    """Make the graph what a snapshot holds."""

    snapshot: Words = NEWEST
    """A file's name among the snapshots, the path of one, or `NEWEST`."""


class HandOver(Asked, do="memory.hand_over"):
    """Make room in the state folder for a snapshot that lies, or is to lie, where the service cannot go: root's home.

    The answer names the `file`, empty and readable by it, in a folder of its own. Whoever asked fills it and restores
    from there, or has another one written beside it and takes that away; and removes the folder.
    """

    name: Name
    """The file's own."""


class Diff(Asked, do="memory.diff"):
    """What came and went between two snapshots."""

    before: Words
    after: Words = NOW


class Changes(Asked, do="memory.changes"):
    """What was written since a moment, by whom, and what came and went by it."""

    since: AwareDatetime


class Replay(Asked, do="memory.replay"):
    """Make the graph again from snapshot and audit log, beside the present one."""

    until: AwareDatetime | None = None
    """None is now."""
    file: FileName = ""
    """Where to write what came out, as a snapshot; "" nowhere."""


class Past(Asked, do="memory.past"):
    """Ask the graph as it was."""

    until: AwareDatetime
    cypher: Words
    params: dict[str, JsonValue] = Field(default_factory=dict)


class ReadAudit(Asked, do="memory.audit"):
    """The newest records of the audit log."""

    last: Annotated[int, Field(ge=1, le=1000)] = 20


class VerifyAudit(Asked, do="memory.verify"):
    """Whether the audit log is as it was written."""


class Backup(Asked, do="backup"):
    """Write everything it is into a file."""

    file: FileName = ""
    """A new file; "" is one in the state folder, named in the answer, which whoever asked takes away from there.

    systemd lets the service write nowhere else.
    """


MemoryRequest: TypeAlias = (
    TakeSnapshot | ListSnapshots | Restore | HandOver | Diff | Changes | Replay | Past | ReadAudit | VerifyAudit
) | Backup


MODELS: Final[tuple[type[Asked], ...]] = (UseTool, *get_args(MemoryRequest))


class MemoryHandler(Protocol):
    """Who answers what is asked of the memory."""

    async def described(self) -> list[Json]:
        """Return the tools: name, description and schema each."""

    async def use(self, request: UseTool) -> Json:
        """Run one of the tools and return what it gives."""

    async def act(self, request: MemoryRequest, told: Progress) -> Json:
        """Do what is asked and return what came of it; what `told` raises ends the work."""


def progress_to(tell: Tell) -> Progress:
    """Return what passes progress on, each hundredth once."""
    return in_hundredths(lambda done, of: tell({"progress": [done, of]}))


def entries(memory: MemoryHandler) -> list[AnyEntry]:
    """Return what may be asked of the memory; it is the household's."""

    async def tools(request: Tools, caller: Caller, tell: Tell) -> Answer:
        return {"tools": await memory.described()}

    async def use(request: UseTool, caller: Caller, tell: Tell) -> Answer:
        return {"result": await memory.use(request)}

    async def schema(request: ReadSchema, caller: Caller, tell: Tell) -> Answer:
        return {"result": await memory.use(UseTool(name="memory_schema"))}

    async def query(request: Query, caller: Caller, tell: Tell) -> Answer:
        arguments: dict[str, JsonValue] = {"cypher": request.cypher, "params": request.params}
        return {"result": await memory.use(UseTool(name="memory_query", arguments=arguments))}

    async def act(request: MemoryRequest, caller: Caller, tell: Tell) -> Answer:
        return {"result": await memory.act(request, progress_to(tell))}

    return [
        Entry(Tools, answers.Tools, tools),
        Entry(UseTool, answers.Result, use),
        Entry(ReadSchema, answers.Result, schema, "GET /memory/schema"),
        Entry(Query, answers.Result, query, "POST /memory/query"),
        Entry(ListSnapshots, answers.Result, act, "GET /memory/snapshots"),
        Entry(ReadAudit, answers.Result, act, "GET /memory/audit"),
        Entry(Diff, answers.Result, act, is_streamed=True),
        Entry(Changes, answers.Result, act, is_streamed=True),
        Entry(Replay, answers.Result, act, is_streamed=True),
        Entry(Past, answers.Result, act, is_streamed=True),
        Entry(VerifyAudit, answers.Result, act, is_streamed=True),
        Entry(TakeSnapshot, answers.Result, act, is_streamed=True, is_command=True),
        Entry(Restore, answers.Result, act, is_streamed=True, is_command=True),
        Entry(HandOver, answers.Result, act, is_streamed=True, is_command=True),
        Entry(Backup, answers.Result, act, is_streamed=True, is_command=True),
    ]
