"""Commands about the memory: look into it, save it, bring it back, and forget; and all that it is in one file."""

import json
from collections.abc import Callable
from functools import partial
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from appliance.cli.remember.changes import changes_told
from appliance.cli.root import AS_KEY, PATH, TEXT, WORDS, configured, nakari, to_be_made
from appliance.cli.telling import AS_JSON, LINES, asked, tell, understood
from appliance.cli.terminal import STRONG, confirm, progress, require_somebody, show
from appliance.config.options import Invocation
from appliance.errors import Exit, Problem
from memory.json_value import Json, objects

if TYPE_CHECKING:
    from appliance.config.load import Config

PARAMS = click.option(
    "--params", type=TEXT, metavar="JSON", default="{}", help='The values of the $names: \'{"name": "Ada"}\'.'
)


PATIENCE = 600.0
"""Seconds that forgetting a turn may take: the graph is made again without it, from snapshot and audit log."""

MOST_MINUTES = 100_000
"""As many as the door takes (`appliance.api.requests.box.Forget`): some seventy days."""

MOST_SHOWN = 20
"""Things that are named before they go, the newest; the others are counted."""

LONGEST_SHOWN = 200
"""Characters of each."""

MINE = "\0"
"""What `--everything` names in the place of an owner."""


class _Minutes(click.FloatRange):
    """Some minutes; "nan" is neither too few nor too many, and none."""

    def convert(self, value: float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        minutes = super().convert(value, param, ctx)
        if isnan(minutes):
            self.fail(f"{value} is no number of minutes", param, ctx)
        return minutes


_MINUTES = _Minutes(0, MOST_MINUTES, min_open=True)


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
    help="As it was then: 07:30, 2026-11-21T07:30 (in the household's zone), or as long ago as 3d.",
)
@AS_JSON
@click.pass_obj
def query(invocation: Invocation, cypher: str, params: str, moment: str | None, as_json: bool) -> None:
    """Read with one Cypher statement; nothing is changed."""
    from appliance.logs.show import asked_moment

    values, config = _object(params), _configured(invocation)
    asked_for: dict[str, Json] = {"cypher": cypher, "params": values}
    if moment is None:
        _run(config, {"do": "tool", "name": "memory_query", "arguments": asked_for}, as_json)
    else:
        until = asked_moment(moment, config.zone).isoformat()
        _run(config, {"do": "memory.past", "until": until, **asked_for}, as_json)


@memory.command()
@click.argument("cypher", type=WORDS)
@PARAMS
@AS_JSON
@click.pass_obj
def write(invocation: Invocation, cypher: str, params: str, as_json: bool) -> None:
    """Change it with one Cypher statement, audited as its own are."""
    arguments: Json = {"cypher": cypher, "params": _object(params)}
    _run(_configured(invocation), {"do": "tool", "name": "memory_write", "arguments": arguments}, as_json)


@memory.command()
@AS_JSON
@click.pass_obj
def schema(invocation: Invocation, as_json: bool) -> None:
    """Show labels, relationship types and property keys in use."""
    _run(_configured(invocation), {"do": "tool", "name": "memory_schema"}, as_json)


@memory.command()
@AS_JSON
@click.pass_obj
def snapshot(invocation: Invocation, as_json: bool) -> None:
    """Write the whole graph into the snapshots' folder."""
    _run(_configured(invocation), {"do": "memory.snapshot"}, as_json)


@memory.command("list")
@AS_JSON
@click.pass_obj
def list_snapshots(invocation: Invocation, as_json: bool) -> None:
    """List the snapshots, oldest first."""
    _run(_configured(invocation), {"do": "memory.list"}, as_json)


@memory.command()
@click.argument("snapshot", default="newest", type=WORDS)
@AS_JSON
@click.pass_obj
def restore(invocation: Invocation, snapshot: str, as_json: bool) -> None:
    """Make the graph what SNAPSHOT holds.

    SNAPSHOT is a name from the list, a file, or newest. A snapshot of what was there before is taken first.
    """
    file = Path(snapshot).absolute()
    which = str(file) if file.is_file() else snapshot
    _run(_configured(invocation), {"do": "memory.restore", "snapshot": which}, as_json)


@memory.command()
@click.argument("before", type=WORDS, required=False)
@click.argument("after", default="now", type=WORDS)
@click.option("--since", "moment", metavar="TIME", help="What was written since then: yesterday, 07:30, or as 3d.")
@AS_JSON
@click.pass_obj
def diff(invocation: Invocation, before: str | None, after: str, moment: str | None, as_json: bool) -> None:
    """Tell what came and went between two snapshots, or one and now.

    With --since what was written since a moment, because of which events, and what came and went by it.
    """
    from appliance.logs.show import asked_moment

    if (before is None) is (moment is None):
        raise click.UsageError("either a snapshot, or --since")
    config = _configured(invocation)
    if before is not None:
        _run(config, {"do": "memory.diff", "before": before, "after": after}, as_json)
    else:
        since = asked_moment(str(moment), config.zone).isoformat()
        _run(config, {"do": "memory.changes", "since": since}, as_json, partial(changes_told, zone=config.zone))


@memory.command()
@click.option("--until", "moment", metavar="TIME", help="As it was then; now if not given, and compared with what is.")
@click.option("--to", "file", type=PATH, metavar="FILE", help="Write what came out, for `nakari memory restore FILE`.")
@AS_JSON
@click.pass_obj
def replay(invocation: Invocation, moment: str | None, file: Path | None, as_json: bool) -> None:
    """Make the graph again from the audit log, and compare.

    It is made beside the present one, from the newest snapshot before the moment and what was written since.
    """
    from appliance.logs.show import asked_moment

    config = _configured(invocation)
    until = None if moment is None else asked_moment(moment, config.zone).isoformat()
    if file is not None and file.exists():
        raise Problem(f"{file} is there already; name a new file", Exit.CANNOT_CREATE)
    _run(config, {"do": "memory.replay", "until": until, "file": str(to_be_made(file)) if file else ""}, as_json)


@memory.command()
@click.argument("what", type=click.Choice(["show", "verify"]), default="show")
@LINES
@AS_JSON
@click.pass_obj
def audit(invocation: Invocation, what: str, lines: int, as_json: bool) -> None:
    """Show the newest records of the audit log, or verify all of it."""
    request: dict[str, Json] = {"do": "memory.audit", "last": lines} if what == "show" else {"do": "memory.verify"}
    _run(_configured(invocation), request, as_json)


@nakari.command()
@click.argument("file", type=PATH)
@AS_JSON
@click.pass_obj
def backup(invocation: Invocation, file: Path, as_json: bool) -> None:
    """Write everything it is into a new FILE.

    Graph, journal, mailbox, timers, settings, audit log and snapshots, of one moment; it goes on meanwhile. Models are
    left out: they can be fetched again. Whoever has the file can read it all.
    """
    config = configured(invocation)
    _run(config, {"do": "backup", "file": str(to_be_made(file))}, as_json, label="backing up")


@nakari.command("restore")
@click.argument("file", type=PATH)
@AS_JSON
@click.pass_obj
def restore_all(invocation: Invocation, file: Path, as_json: bool) -> None:
    """Make this box what the backup FILE holds.

    On this machine or another; stop the service first. A torn, changed or foreign file is refused before anything is
    changed. What was here is kept aside, in a folder that is named at the end.
    """
    import asyncio

    config = configured(invocation, log="CRITICAL")  # a store that is gone is what it begins with
    from appliance.admin.restoring import restore_archive
    from memory.progress import in_hundredths

    with progress("restoring") as told:
        found = asyncio.run(restore_archive(config, file.absolute(), in_hundredths(told)))
    tell(found, as_json=as_json)


def _configured(invocation: Invocation) -> "Config":
    return configured(invocation, log="ERROR")


def _run(
    config: "Config",
    request: dict[str, Json],
    as_json: bool,
    in_words: "Callable[[Json], Json] | None" = None,
    label: str = "working",
) -> None:
    """Let the admin of the memory act, wherever it is, and tell what came of it; `in_words` says it to people."""
    import asyncio

    from appliance.admin.local import open_admin
    from appliance.api.requests.memory import MODELS, UseTool

    meant = understood(request, MODELS)

    async def run() -> Json:
        with progress(label) as told:
            async with open_admin(config) as admin:
                return await (admin.use(meant) if isinstance(meant, UseTool) else admin.act(meant, told))

    found = asyncio.run(run())
    tell(found if as_json or in_words is None else in_words(found), as_json=as_json)


def _object(text: str) -> dict[str, Json]:
    try:
        read = json.loads(text)
        json.dumps(read, ensure_ascii=False, allow_nan=False).encode()  # NaN and half a character are read all the same
    except (ValueError, RecursionError) as error:
        raise click.BadParameter(f"it is no JSON: {error}", param_hint="--params") from error
    if not isinstance(read, dict):
        raise click.BadParameter("it should be a JSON object", param_hint="--params")
    return read


class Which(TypedDict):
    """What goes: one of these, or the last thing."""

    last: int | None
    minutes: float | None
    about: str | None


@nakari.command()
@click.option("--last", type=click.IntRange(1, 1000), metavar="N", help="The last N things; 1 if not given.")
@click.option("--minutes", type=_MINUTES, metavar="M", help="Everything of M minutes.")
@click.option("--about", type=WORDS, metavar="WORDS", help="All that was said with these words, however long ago.")
@click.option(
    "--owner", type=WORDS, metavar="KEY|NAME", help="Everything that a visitor, or a member, has ever said here."
)
@click.option("--everything", "owner", flag_value=MINE, help="Everything of yours; show who you are with --as.")
@AS_KEY
@click.option("--yes", is_flag=True, help="Do not ask whether that is meant.")
@click.pass_obj
def forget(
    invocation: Invocation, owner: str | None, key_file: Path | None, *, yes: bool, **which: Unpack[Which]
) -> None:
    """Erase what it was told last, or all of one thing or owner.

    What the household told it last is meant, aloud in the room or in writing, with what came of it: words, sounds,
    context, and what it wrote into the graph because of it. "Forget what you just heard", said aloud, means the room
    alone. What other owners said stays.

    With --about "spare key" all that the household said with those words goes, and what it was answered with them.

    With --owner, or --everything, an owner's words, events, timers, settings, membership and graph go, and what they
    had it write into the household's graph. --owner works without the service too.

    It says which words go and asks first; a script says --yes.

    It is for good. That something was said, and its digest, stay. Backups of before are not reached, nor is what
    somebody else said of it.
    """
    given: dict[str, Json] = {"last": which["last"], "minutes": which["minutes"], "about": which["about"]}
    chosen: dict[str, Json] = {name: value for name, value in given.items() if value is not None}
    if len(chosen) > 1:
        raise click.UsageError("one of --last, --minutes and --about")
    if owner is None:
        if key_file is not None:
            raise click.UsageError("--as is for --everything")
        _turns(configured(invocation), chosen or {"last": 1}, is_sure=yes)
        return
    if (owner == MINE) is (key_file is None):
        raise click.UsageError("--everything goes with --as KEYFILE, and --owner KEY|NAME without")
    if chosen:
        raise click.UsageError("either a number, or minutes, or words, or everything of an owner")
    _everything(configured(invocation), owner, key_file, is_sure=yes)


def _turns(config: "Config", which: dict[str, Json], *, is_sure: bool) -> None:
    things = objects(asked(config, {"do": "forget.preview", **which})["events"])
    if not things and (about := str(which.pop("about", ""))):
        mend = "; a word less may find it" if len(about.split()) > 1 else ""
        show(f"nothing was said here with all the words of {about!r}{mend}")
        return
    if things and not is_sure:
        _confirm_words([str(thing["words"]) for thing in things])
    these: list[Json] = [thing["id"] for thing in things]
    with progress("forgetting"):
        given = {name: value for name, value in which.items() if name != "about"}
        done = asked(config, {"do": "forget", **given, "these": these}, patience=PATIENCE)["done"]
    show(str(done))


def _confirm_words(words: list[str]) -> None:
    """Show what goes, and ask. Raises `UsageError` where nobody can be asked, `Exit` for a no."""
    require_somebody("what was told would go for good")
    show("This goes for good, with all that came of it:", err=True)
    for line in words[-MOST_SHOWN:]:
        text = " ".join(line.split())
        show(f"  {text[:LONGEST_SHOWN]}{'…' if len(text) > LONGEST_SHOWN else ''}", STRONG, err=True)
    if len(words) > MOST_SHOWN:
        show(f"  and {len(words) - MOST_SHOWN} things before that", err=True)
    confirm("Is that meant?")


def _everything(config: "Config", owner: str, key_file: Path | None, *, is_sure: bool) -> None:
    import asyncio

    from appliance.admin.local import erase_everything
    from appliance.api.client import follow, read_key, service_of
    from appliance.owners.owners import identities_of, owner_of
    from memory.identity import sign

    key = b"" if key_file is None else read_key(key_file)
    identities = identities_of(config.state_folder)
    whose = owner_of(identities, owner) if key_file is None else identities.find(sign(key, "")[0])
    if not is_sure:
        named = f"{whose.name} ({whose.owner_key})" if whose.name else whose.owner_key
        require_somebody(f"everything of {named} would go for good")
        confirm(f"Everything of {named} goes for good. Is that meant?")
    with progress("forgetting") as told:
        if key:
            done = asyncio.run(follow(asyncio.run(service_of(config)), {"do": "forget.owner"}, told, key))
        else:
            done = asyncio.run(erase_everything(config, whose.owner_key, told))
    click.echo(done)
