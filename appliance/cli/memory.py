"""Commands that look into the memory, save it, bring it back and ask how it was."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from appliance.cli.root import PATH, TEXT, WORDS, configured, nakari, to_be_made
from appliance.config.options import Invocation
from appliance.exits import Exit

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from appliance.admin.graph_admin import GraphAdmin
    from appliance.admin.local import RemoteAdmin
    from appliance.admin.progress import Progress
    from appliance.api.memory_requests import MemoryRequest, UseTool
    from memory.json_value import Json

AS_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON object.")
PARAMS = click.option(
    "--params", type=TEXT, metavar="JSON", default="{}", help='The values of the $names: \'{"name": "Ada"}\'.'
)


@nakari.group(no_args_is_help=False)
def memory() -> None:
    """Look into the memory; save it, bring it back.

    The running service does it, or this command by itself when none is running. To move the graph to a Neo4j server, or
    back, stop the service: `nakari memory snapshot`, change [memory] uri, `nakari memory restore newest`.
    """


@memory.command()
@click.argument("cypher", type=WORDS)
@PARAMS
@click.option(
    "--as-of",
    "moment",
    metavar="TIME",
    help="As it was then: 07:30, 2026-11-21T07:30 (local time), or as long ago as 3d.",
)
@AS_JSON
@click.pass_obj
def query(invocation: Invocation, cypher: str, params: str, moment: str | None, as_json: bool) -> Exit:
    """Read with one Cypher statement; nothing is changed."""
    from appliance.api.memory_requests import Past, UseTool
    from appliance.logs.show import asked_moment

    values = _object(params)
    if moment is None:
        return _run(invocation, UseTool(do="tool", name="memory_query", arguments=_call(cypher, values)), as_json)
    return _run(invocation, Past(until=asked_moment(moment), cypher=cypher, params=values), as_json)


@memory.command()
@click.argument("cypher", type=WORDS)
@PARAMS
@AS_JSON
@click.pass_obj
def write(invocation: Invocation, cypher: str, params: str, as_json: bool) -> Exit:
    """Change it with one Cypher statement, audited as its own are."""
    from appliance.api.memory_requests import UseTool

    request = UseTool(do="tool", name="memory_write", arguments=_call(cypher, _object(params)))
    return _run(invocation, request, as_json)


@memory.command()
@AS_JSON
@click.pass_obj
def schema(invocation: Invocation, as_json: bool) -> Exit:
    """Show labels, relationship types and property keys in use."""
    from appliance.api.memory_requests import UseTool

    return _run(invocation, UseTool(do="tool", name="memory_schema"), as_json)


@memory.command()
@AS_JSON
@click.pass_obj
def snapshot(invocation: Invocation, as_json: bool) -> Exit:
    """Write the whole graph into the snapshots' folder."""
    from appliance.api.memory_requests import TakeSnapshot

    return _run(invocation, TakeSnapshot(), as_json)


@memory.command("list")
@AS_JSON
@click.pass_obj
def list_snapshots(invocation: Invocation, as_json: bool) -> Exit:
    """List the snapshots, oldest first."""
    from appliance.api.memory_requests import ListSnapshots

    return _run(invocation, ListSnapshots(), as_json)


@memory.command()
@click.argument("snapshot", default="newest", type=WORDS)
@AS_JSON
@click.pass_obj
def restore(invocation: Invocation, snapshot: str, as_json: bool) -> Exit:
    """Make the graph what SNAPSHOT holds.

    SNAPSHOT is a name from the list, a file, or newest. A snapshot of what was there before is taken first.
    """
    from appliance.api.memory_requests import Restore

    file = Path(snapshot).absolute()
    if file.is_file():  # in a folder that the service may not look into, perhaps
        return _kept(invocation, lambda admin, told: admin.restore_file(file, told), as_json)
    return _run(invocation, Restore(snapshot=snapshot), as_json)


@memory.command()
@click.argument("before", type=WORDS)
@click.argument("after", default="now", type=WORDS)
@AS_JSON
@click.pass_obj
def diff(invocation: Invocation, before: str, after: str, as_json: bool) -> Exit:
    """Tell what came and went between two snapshots, or one and now."""
    from appliance.api.memory_requests import Diff

    return _run(invocation, Diff(before=before, after=after), as_json)


@memory.command()
@click.option("--until", "moment", metavar="TIME", help="As it was then; now if not given, and compared with what is.")
@click.option("--to", "file", type=PATH, metavar="FILE", help="Write what came out, for `nakari memory restore FILE`.")
@AS_JSON
@click.pass_obj
def replay(invocation: Invocation, moment: str | None, file: Path | None, as_json: bool) -> Exit:
    """Make the graph again from the audit log, and compare.

    It is made beside the present one, from the newest snapshot before the moment and what was written since.
    """
    from appliance.api.memory_requests import Replay
    from appliance.logs.show import asked_moment

    until = None if moment is None else asked_moment(moment)
    if file is None:
        return _run(invocation, Replay(until=until), as_json)
    path = to_be_made(file)  # in a folder that the service may not write into, perhaps
    return _kept(invocation, lambda admin, told: admin.replay_to(path, until, told), as_json)


@memory.command()
@click.argument("what", type=click.Choice(["show", "verify"]), default="show")
@click.option("-n", "--lines", type=click.IntRange(1, 1000), default=20, metavar="N", help="The newest N; 20.")
@AS_JSON
@click.pass_obj
def audit(invocation: Invocation, what: str, lines: int, as_json: bool) -> Exit:
    """Show the newest records of the audit log, or verify all of it."""
    from appliance.api.memory_requests import ReadAudit, VerifyAudit

    return _run(invocation, VerifyAudit() if what == "verify" else ReadAudit(last=lines), as_json)


def _run(invocation: Invocation, request: "MemoryRequest | UseTool", as_json: bool) -> Exit:
    from appliance.api.memory_requests import UseTool

    if isinstance(request, UseTool):
        return _kept(invocation, lambda admin, told: admin.use(request), as_json)
    return _kept(invocation, lambda admin, told: admin.act(request, told), as_json)


def _kept(
    invocation: Invocation, act: "Callable[[RemoteAdmin | GraphAdmin, Progress], Awaitable[Json]]", as_json: bool
) -> Exit:
    """Let the admin of the memory act, wherever it is, and tell what came of it."""
    import asyncio

    config = configured(invocation, log="ERROR")
    from appliance.admin.local import open_admin
    from appliance.cli.telling import on_terminal, tell

    async def run() -> "Json":
        async with open_admin(config) as admin:
            return await act(admin, on_terminal())

    tell(asyncio.run(run()), as_json=as_json)
    return Exit.OK


def _call(cypher: str, params: "dict[str, Json]") -> "dict[str, Json]":
    return {"cypher": cypher, "params": params}


def _object(text: str) -> "dict[str, Json]":
    import json

    try:
        read = json.loads(text)
        json.dumps(read, ensure_ascii=False, allow_nan=False).encode()  # NaN and half a character are read all the same
    except (ValueError, RecursionError) as error:
        raise click.BadParameter(f"it is no JSON: {error}", param_hint="--params") from error
    if not isinstance(read, dict):
        raise click.BadParameter("it should be a JSON object", param_hint="--params")
    return read
