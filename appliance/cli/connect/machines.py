"""Commands about several machines: let one in, join, list, take one out, hand over."""

import json
import sys
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click
from msgspec.structs import replace

from appliance.cli.root import NAME, PATH, TEXT, configured, nakari
from appliance.cli.telling import AS_JSON, tell_json
from appliance.cli.terminal import FAINT, STRONG, is_terminal, show, table
from appliance.config.network.machines import ROLES, Role, wrong_household, wrong_name
from appliance.config.options import Invocation
from appliance.errors import Exit, Problem
from appliance.hints import typed_here
from memory.json_value import objects

if TYPE_CHECKING:
    from appliance.config.load import Config
    from appliance.machines.joining.users import UsersFile

RELOADS = click.option(
    "--reload",
    "reload",
    type=TEXT,
    default="systemctl reload nats-server",
    show_default=True,
    metavar="COMMAND",
    help="By which the NATS server reads its configuration anew.",
)


@nakari.command()
@click.argument("url", metavar="INVITATION|URL", type=NAME)
@click.option("--ca", type=PATH, metavar="FILE", help="The authority that the server's certificate is signed by.")
@click.option("--creds", type=PATH, metavar="FILE", help="A .creds or .nk file that the server's operator gave.")
@click.option("--user", type=TEXT, default="", metavar="USER", help="A user of the server; the password is asked for.")
@click.option("--force", is_flag=True, help="Forget the login that this machine has.")
@click.pass_obj
def join(invocation: Invocation, url: str, ca: Path | None, creds: Path | None, user: str, force: bool) -> None:
    """Make this machine one of a household's several.

    An INVITATION is the line that `nakari machines invite` prints on the machine of the server: for one machine, once,
    for ten minutes. "-" reads it from stdin. Where the server is not the household's own, or Redis, give its URL with
    --creds or --user; the household and the name are those of [machines].
    """
    from appliance.config.load import where_to_write
    from appliance.machines.joining.invitation import is_invitation
    from appliance.machines.joining.login import PASSWORD, kept_login

    config = _quietly_configured(invocation)
    line = sys.stdin.readline().strip() if url == "-" else url
    if not line:
        raise click.UsageError("standard input is empty; the line is what `nakari machines invite` printed")
    folder = config.state_folder
    if not force and (kept_login(folder) or (folder / PASSWORD).is_file()):
        what = f"this machine has joined already, its login is in {folder}"
        raise Problem(f"{what}; --force forgets that one", Exit.USAGE)
    authority = ca.absolute() if ca else config.machines.authority
    file = where_to_write(invocation.file)
    if is_invitation(line):
        if creds or user:
            raise click.UsageError("an invitation needs neither --creds nor --user")
        values = _joined(config, line, authority)
    elif "://" not in line:
        raise click.UsageError(
            "this is neither an invitation nor a URL; an invitation is all of what `nakari machines invite` printed "
            "behind `nakari join`, tls://… to its end"
        )
    else:
        values = _given(config, line, creds, user)
        if config.machines.url != line.rstrip("/"):  # else the name that is there may be its own
            _require_own_name(config, line.rstrip("/"), authority)
    _write(file, [*values, *([("ca", str(authority))] if ca else [])])
    role = dict(values).get("role", config.machines.role)
    click.echo(f"joined; the login is in {folder}, the rest in {file}")
    what = f"`nakari doctor`, then `nakari run` (role {role}), or `systemctl restart nakari` as a service"
    click.echo(typed_here(f"next: {what}"))


@nakari.group(invoke_without_command=True, no_args_is_help=False)
@AS_JSON
@click.pass_context
def machines(ctx: click.Context, as_json: bool) -> None:
    """List the household's machines; let one in, take one out."""
    if ctx.invoked_subcommand is None:
        _list(ctx.obj, as_json)


@machines.command("invite")
@click.argument("name", type=NAME)
@click.option("--role", type=click.Choice(ROLES), default="ears", show_default=True, help="What it will do.")
@click.option(
    "--url", type=TEXT, default="", metavar="URL", help="Of the server as that machine reaches it, where it differs."
)
@RELOADS
@click.option(
    "--seconds", type=click.FloatRange(1.0, 3600.0), default=600.0, show_default=True, help="For how long it holds."
)
@click.pass_obj
def invite_machine(invocation: Invocation, name: str, role: Role, url: str, reload: str, seconds: float) -> None:
    """Let one machine in under this NAME, and wait for it.

    Prints the line to type there behind `nakari join`. Ctrl-C ends the invitation. The first time this machine lets
    itself in. What runs as a service needs its login: see docs/machines.md.
    """
    import asyncio

    from appliance.machines.joining import login as logins
    from appliance.machines.joining.invitation import Invitation
    from appliance.machines.joining.joining import admit_again, admit_first, invite

    if wrong := wrong_name(name):
        raise click.UsageError(f"the name {wrong}")
    config = _with_server(invocation)
    users = _users(config, reload)
    mine = config.machines.own_name
    if name.lower() == mine.lower():
        raise Problem(f"{mine} is this machine; choose another name", Exit.USAGE)
    given = logins.login_of(config)
    if not (given.user or given.token or given.credentials):
        save = partial(logins.keep, config.state_folder, logins.SEED)
        admit_first(users, mine, _thinking_role(config), save)
        given = logins.login_of(config)
        show(f"{mine}, this machine, is the household's first; its login is in {config.state_folder}", err=True)
    elif admit_again(users, mine, _thinking_role(config), given):
        show(f"{mine}, this machine, had been taken out, and is let in again with the key that it has", err=True)
    made = Invitation.make(url or config.machines.url, config.machines.household, name, role, seconds)

    def tell(line: str) -> None:
        show(f"within {seconds / 60:g} minutes, on {name}:", err=True)
        click.echo(f"nakari join {line}")
        sys.stdout.flush()

    came = asyncio.run(invite(made, config.machines.url, users, given, tell, config.zone))
    click.echo(f"{name} has joined{f', with nakari {came}' if came else ''}")


@machines.command("remove")
@click.argument("name", type=NAME)
@RELOADS
@click.pass_obj
def remove_machine(invocation: Invocation, name: str, reload: str) -> None:
    """Take the machine of this NAME out.

    The server ends its connection, and knows it no more. Neither this machine can be taken out nor the one that leads.
    """
    config = _with_server(invocation)
    users = _users(config, reload)
    if name.lower() == (mine := config.machines.own_name).lower():
        what = f"{mine} is this machine, which lets the others in, and is not taken out"
        raise Problem(f"{what}; for one box again see docs/machines.md, and `nakari machines leave`", Exit.USAGE)
    known = users.read()
    left = [user for user in known if user.name.lower() != name.lower()]
    if len(left) == len(known):
        names = ", ".join(user.name for user in known) or "none"
        raise Problem(f"there is no machine {name}; there are {names}", Exit.NO_INPUT)
    if any(user.role != "ears" for user in known if user not in left) and _state_of(config, name) == "leads":
        what = f"{name} leads the household: have another machine lead it first, by `nakari handover`"
        raise Problem(f"{what}, or stop nakari there", Exit.USAGE)
    users.write(left)
    click.echo(f"{name} is taken out; what stands on that machine stays there")


@machines.command("leave")
@click.pass_obj
def leave_machines(invocation: Invocation) -> None:
    """Make this machine's copy of the state its own.

    While nakari is stopped, and [machines] url is empty.
    """
    import sqlite3

    from memory.lock import unlock
    from memory.state.database import locked
    from memory.state.replica.position import leave

    config = configured(invocation)
    if config.machines.url:
        what = "[machines] url still names a server"
        raise Problem(f"{what}; `nakari config set machines.url ''` ends that", Exit.CONFIG)
    file = config.state_folder / "nakari.db"
    if not file.is_file():
        raise Problem(f"there is no {file}; set [state] folder", Exit.CONFIG)
    lock = locked(file)
    try:
        with closing(sqlite3.connect(file)) as connection, connection:
            leave(connection)
    finally:
        unlock(lock)
    click.echo(f"{file} is this machine's own")


@nakari.command("handover")
@click.pass_obj
def handover(invocation: Invocation) -> None:
    """Have another machine of the household lead it.

    The one that leads finishes what is under way, or puts it aside for the other one, which goes on within seconds.
    Asked on any of the machines.
    """
    import asyncio

    config = _with_server(invocation)
    click.echo(f"{asyncio.run(_give_back(config))} has given the lead away")


def _quietly_configured(invocation: Invocation) -> "Config":
    """Return the configuration; asyncio says nothing of a TLS connection that the server ends."""
    import logging

    config = configured(invocation)
    logging.getLogger("asyncio").setLevel(logging.ERROR)
    return config


def _with_server(invocation: Invocation) -> "Config":
    config = _quietly_configured(invocation)
    if not config.machines.url:
        what = "this machine is alone: [machines] url names no server"
        raise Problem(f"{what}; `nakari config set machines.url tls://HOST:4222` names one", Exit.CONFIG)
    return config


def _list(invocation: Invocation, as_json: bool) -> None:
    import asyncio

    from appliance.machines.namesakes import MEND, two_called
    from appliance.machines.roll import roll_of

    config = _with_server(invocation)
    found = asyncio.run(roll_of(config))
    if as_json:
        tell_json(found)
        return
    keys = ("machine", "role", "room", "state", "waiting")
    rows = [tuple(str(each.get(key, "")) for key in keys) for each in objects(found["machines"])]
    table(rows, keys, styles=(STRONG, "", "", "", FAINT))
    for name in cast("list[str]", found["namesakes"]):
        show(f"{two_called(name)}; {MEND}", err=True)
    if refused := str(found["refused"]):
        show(refused, err=True)
    if not rows:
        show("no machine is there; `nakari run` on one of them is the first", err=True)


def _state_of(config: "Config", name: str) -> str:
    """Return what a machine tells of itself, such as "leads"; "" of none, and where nobody can be listened to."""
    import asyncio

    from appliance.machines.roll import roll_of
    from memory.errors import EngineFailure

    try:
        rows = objects(asyncio.run(roll_of(config))["machines"])
    except EngineFailure:
        return ""
    return next((str(row["state"]) for row in rows if str(row["machine"]).lower() == name.lower()), "")


def _users(config: "Config", reload: str) -> "UsersFile":
    from appliance.machines.joining.users import UsersFile

    if not config.machines.url.startswith(("nats://", "tls://")):
        what = "Redis has users of its own: make one with its ACL"
        raise Problem(f"{what}, and `nakari join URL --user USER` there (docs/machines.md)", Exit.CONFIG)
    if not config.machines.users:
        what = "[machines] users names no file: machines are let in on the machine of the NATS server"
        raise Problem(f"{what}; elsewhere its operator gives a .creds file for `nakari join --creds`", Exit.CONFIG)
    return UsersFile(Path(config.machines.users).expanduser(), config.machines.household, reload)


def _thinking_role(config: "Config") -> Role:
    return "mind" if config.machines.role == "mind" else "all"


def _joined(config: "Config", line: str, authority: Path | None) -> list[tuple[str, str]]:
    """Take an invitation; return what it sets of [machines]."""
    import asyncio

    from appliance.machines.joining.invitation import read_invitation
    from appliance.machines.joining.joining import accept
    from appliance.machines.joining.login import SEED, forget, keep

    taken = read_invitation(line)
    kept = asyncio.run(accept(taken, authority, lambda seed: keep(config.state_folder, SEED, seed)))
    forget(config.state_folder, but=kept)
    return [("url", taken.url), ("household", taken.household), ("name", taken.name), ("role", taken.role)]


def _given(config: "Config", url: str, creds: Path | None, user: str) -> list[tuple[str, str]]:
    """Keep a login that somebody gave; return what it sets of [machines]."""
    from appliance.config.values import wrong_meaning
    from appliance.machines.joining.login import CREDS, PASSWORD, SEED, keep_only

    if wrong := wrong_meaning("machines", "url", url) or wrong_household(config.machines.household):
        raise click.UsageError(f"the URL {wrong}")
    if bool(creds) == bool(user):
        raise click.UsageError("a URL comes with --creds or with --user; an invitation with neither")
    if creds:
        keep_only(config.state_folder, SEED if creds.suffix == ".nk" else CREDS, creds.read_text(encoding="utf-8"))
    else:
        hidden = is_terminal(sys.stdin)
        password = click.prompt("password", hide_input=True, err=True) if hidden else sys.stdin.readline().strip()
        if not password:
            raise click.UsageError(f"standard input has no password of {user}")
        keep_only(config.state_folder, PASSWORD, json.dumps({"user": user, "password": password}))
    return [("url", url.rstrip("/"))]


def _require_own_name(config: "Config", url: str, authority: Path | None) -> None:
    """Raise `Problem`, and keep no login, where another machine of the household tells that it has this one's name."""
    from appliance.machines.joining.login import forget

    name, ca = config.machines.own_name, str(authority) if authority else ""
    joined = replace(config, machines=replace(config.machines, url=url, ca=ca))
    if _state_of(joined, name) not in ("", "away"):
        forget(config.state_folder)
        what = f"there is a machine {name} already, and two of one name cannot be told apart"
        raise Problem(f"{what}; `nakari config set machines.name NAME` gives this one another, then join", Exit.USAGE)


def _write(file: Path, values: Sequence[tuple[str, str]]) -> None:
    from appliance.config.edit import set_value

    for key, value in values:
        set_value(file, f"machines.{key}", json.dumps(value))


async def _give_back(config: "Config") -> str:
    from appliance.machines.standby.standby import give_back
    from appliance.wiring.machines.engine import engine_of

    engine = engine_of(config)
    try:
        await engine.open()
        return await give_back(engine)
    finally:
        await engine.close()
