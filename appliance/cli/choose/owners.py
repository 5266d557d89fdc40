"""Commands about owners: who the box knows, what each has set, and the tokens that speak for them over HTTP."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from appliance.cli.root import AS_KEY, NAME, PATH, TEXT, WORDS, configured, nakari, to_be_made
from appliance.cli.telling import AS_JSON, asked, tell_json, understood
from appliance.cli.terminal import FAINT, STRONG, table
from appliance.config.options import Invocation
from appliance.errors import Exit, Problem, in_room_of
from memory.json_value import Json, fields

if TYPE_CHECKING:
    from appliance.config.load import Config
    from appliance.owners.owners import Tokens
    from memory.identity import Identities
    from memory.state.owner_settings import Value

LONGEST_SHOWN = 80
"""Characters of a value in a list for people."""


@nakari.group(invoke_without_command=True)
@click.pass_context
def settings(context: click.Context) -> None:
    """Show and change your own settings.

    Those of the household, or with --as those of a member: the three modules of the prompt, which nobody else sees, and
    how many tool calls an event may use. What is the box's, by its configuration file, is listed as "system". A change
    holds from the next event on.
    """
    if context.invoked_subcommand is None:
        context.invoke(list_settings)


@settings.command("list")
@AS_KEY
@AS_JSON
@click.pass_obj
def list_settings(invocation: Invocation, key_file: Path | None = None, as_json: bool = False) -> None:
    """List what holds, and who says so: system, default, owner or agent."""
    found = fields(_told(configured(invocation), key_file, {"do": "settings"})["settings"])
    if as_json:
        tell_json(found)
        return
    rows = [(name, str(fields(each)["level"]), _shown(fields(each))) for name, each in found.items()]
    table(rows, ("setting", "from", "value"), styles=(STRONG, FAINT))


@settings.command("set")
@click.argument("name", type=NAME)
@click.argument("value", type=TEXT)
@AS_KEY
@AS_JSON
@click.pass_obj
def set_one(invocation: Invocation, name: str, value: str, key_file: Path | None, as_json: bool) -> None:
    """Give NAME a VALUE of your own."""
    config = configured(invocation)
    held = fields(fields(_told(config, key_file, {"do": "settings"})["settings"]).get(name))
    given = _as_its_kind(value, held.get("value", ""))
    _done(_told(config, key_file, {"do": "settings.set", "name": name, "value": given}), as_json)


@settings.command()
@click.argument("name", type=NAME, required=False)
@AS_KEY
@AS_JSON
@click.pass_obj
def reset(invocation: Invocation, name: str | None, key_file: Path | None, as_json: bool) -> None:
    """Take your own value of NAME back, or all of yours."""
    which: dict[str, Json] = {"all": True} if name is None else {"name": name}
    request = {"do": "settings.reset", **which}
    _done(_told(configured(invocation), key_file, request), as_json)


def _told(config: "Config", key_file: Path | None, request: dict[str, Json]) -> dict[str, Json]:
    """Ask the running service; where there is none, open the state for it here."""
    from appliance.api.client import read_key
    from appliance.api.requests.owners import SETTINGS, settings_of

    meant = understood(request, SETTINGS)
    key = b"" if key_file is None else read_key(key_file)

    async def alone() -> dict[str, Json]:
        from agent.event import HOUSEHOLD
        from appliance.owners.owners import open_owners
        from appliance.wiring.memory.state import open_state
        from memory.identity import sign

        async with open_state(config.state_folder) as state:
            owners = await open_owners(state, config.state_folder, config.mind.max_tool_calls)
            owner_key, _ = sign(key, "") if key else (HOUSEHOLD, "")
            return await settings_of(owners, owner_key, meant)

    return asked(config, request, alone, key=key)


def _as_its_kind(text: str, like: Json) -> "Value":
    """Return what was typed as a value of the same kind, or as it is where it is none."""
    if isinstance(like, str):
        return text
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, bool | int | float) else text


def _shown(held: Mapping[str, Json]) -> str:
    value = held["value"]
    text = " ".join(value.split()) if isinstance(value, str) else json.dumps(value)
    nothing = "nothing yet" if held["level"] == "agent" else "as shipped"
    return f"{text[:LONGEST_SHOWN]}…" if len(text) > LONGEST_SHOWN else text or nothing


def _done(answer: dict[str, Json], as_json: bool) -> None:
    click.echo(json.dumps(answer, ensure_ascii=False) if as_json else answer["done"])


@nakari.group(no_args_is_help=False)
def identity() -> None:
    """Make members of the box, list them, remove them.

    The running service knows of it at once. A member proves their key, as with `nakari ask --as NAME.key`.
    """


@identity.command()
@click.argument("name", type=WORDS)
@click.option("--key", "file", type=PATH, metavar="FILE", help="Where the private key is put; NAME.key without it.")
@click.pass_obj
def create(invocation: Invocation, name: str, file: Path | None) -> None:
    """Make NAME a member with a new key.

    Prints the public key, which is their owner key. The private one goes into a file that only you can read; who has
    it, is NAME. The box keeps the public one.
    """
    config = configured(invocation)
    from memory.identity import new_key

    private, made = new_key()
    place = file or Path(f"{name.replace('/', '_')}.key")
    _keep(private, place)  # first: a member whose key nobody has is nobody
    try:
        _register(_identities(config.state_folder), name, made)
    except Exception:
        place.unlink()  # nor is anybody whom the box does not know
        raise
    click.echo(f"the private key is in {place}; keep it, nobody else has it", err=True)


@identity.command()
@click.argument("name", type=WORDS)
@click.argument("key", type=WORDS)
@click.pass_obj
def add(invocation: Invocation, name: str, key: str) -> None:
    """Make NAME a member with a KEY made elsewhere.

    KEY is an Ed25519 public key, 64 hexadecimal digits; whoever has its private one, is NAME.
    """
    _register(_identities(configured(invocation).state_folder), name, key)


@identity.command()
@click.argument("member", type=WORDS)
@click.pass_obj
def remove(invocation: Invocation, member: str) -> None:
    """Make a visitor of a MEMBER, by name or key.

    What they have said stays theirs; what they have set rests until they are a member again.
    """
    config = configured(invocation)
    from appliance.owners.owners import member_of

    identities = _identities(config.state_folder)
    found = member_of(identities, member)
    identities.remove(found.owner_key)
    click.echo(f"{found.name} is a visitor now.")


@identity.command("list")
@click.option("--visitors", is_flag=True, help="Who told nakari something and is no member: key and number of events.")
@AS_JSON
@click.pass_obj
def list_members(invocation: Invocation, *, visitors: bool, as_json: bool) -> None:
    """Print the members: owner key, since when, name.

    None of a visitor's words is shown to anybody; `nakari forget --owner KEY` erases them.
    """
    config = configured(invocation)
    members = _identities(config.state_folder).members()
    if visitors:
        from appliance.owners.owners import visitors_of

        visiting = visitors_of(config.state_folder, {member.owner_key for member in members})
        if as_json:
            tell_json({"visitors": [{"owner_key": key, "events": count} for key, count in visiting.items()]})
            return
        table([(key, str(count)) for key, count in visiting.items()], ("key", "events"), none="no visitors")
        return
    if as_json:
        tell_json({"members": members})
        return
    rows = [(member.owner_key, f"{member.created_at:%Y-%m-%d}", member.name) for member in members]
    table(rows, ("owner key", "since", "name"), none="no members; the household needs no key")


def _identities(state_folder: Path) -> "Identities":
    from appliance.owners.owners import identities_of

    return identities_of(state_folder)


def _register(identities: "Identities", name: str, key: str) -> None:
    from memory.identity import as_written

    try:
        known = identities.register(name, key)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    if known.name != as_written(name):
        click.echo(f"this key is {known.name}'s already", err=True)
    elif any(each.name.casefold() == known.name.casefold() and each != known for each in identities.members()):
        click.echo(f"another member is called {known.name} too: they are told apart by the key alone", err=True)
    click.echo(known.owner_key)


def _keep(private: bytes, place: Path) -> None:
    """Write a private key for its owner's eyes; nothing that is there is overwritten."""
    try:
        handle = os.open(to_be_made(place), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError as error:
        raise Problem(f"{place} is there already; name another file with --key", Exit.CANNOT_CREATE) from error
    try:
        with in_room_of(place.absolute().parent, "the key; free some disk space"), os.fdopen(handle, "wb") as out:
            out.write(private)
            out.flush()
            os.fsync(out.fileno())
    except (OSError, Problem):
        place.unlink()  # a part of a key is none
        raise


@nakari.group(no_args_is_help=False)
def token() -> None:
    """Make tokens for HTTP, list them, revoke them.

    A program of the household on this machine needs none. The running service heeds a change at once.
    """


@token.command("create")
@click.argument("name", type=WORDS)
@click.option("--owner", type=WORDS, metavar="OWNER", help="A member's name, or a key; the household's without it.")
@click.pass_obj
def create_token(invocation: Invocation, name: str, owner: str | None) -> None:
    """Make a token called NAME, and print it.

    It is shown this once; only its SHA-256 is kept. Who has it speaks for its owner: sent as "Authorization: Bearer
    TOKEN", or typed into the console's page. One for each phone or program can be revoked by itself.
    """
    from agent.event import HOUSEHOLD
    from appliance.owners.owners import identities_of, owner_of

    folder = configured(invocation).state_folder
    owner_key = HOUSEHOLD if owner in (None, HOUSEHOLD) else owner_of(identities_of(folder), owner or "").owner_key
    try:
        made = _tokens(invocation).create(name, owner_key)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    click.echo("keep it: it is not shown again", err=True)
    click.echo(made)


@token.command("list")
@AS_JSON
@click.pass_obj
def list_tokens(invocation: Invocation, *, as_json: bool) -> None:
    """Print the tokens by name; none of them itself."""
    found = _tokens(invocation).list()
    if as_json:
        tell_json({"tokens": found})
        return
    rows = [(each.name, f"{each.created_at:%Y-%m-%d}", each.owner_key) for each in found]
    table(rows, ("name", "since", "owner"), none="no tokens; `nakari token create NAME` makes one")


@token.command()
@click.argument("name", type=WORDS)
@click.pass_obj
def revoke(invocation: Invocation, name: str) -> None:
    """Make the token called NAME good for nothing.

    Nothing that comes with it is done from then on, and nothing told; what is open by it ends at its next message.
    """
    if not _tokens(invocation).revoke(name):
        raise Problem(f"no token is called {name}; `nakari token list` shows them", Exit.NO_INPUT)
    click.echo(f"{name} is good for nothing now.")


def _tokens(invocation: Invocation) -> "Tokens":
    from appliance.owners.owners import tokens_of

    return tokens_of(configured(invocation).state_folder)
