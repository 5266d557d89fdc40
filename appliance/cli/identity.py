"""Commands that look after who the box knows."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from appliance.cli.root import PATH, WORDS, configured, nakari, to_be_made
from appliance.config.options import Invocation
from appliance.exits import Exit

if TYPE_CHECKING:
    from appliance.config.load import Config
    from memory.identity import Identities


@nakari.group(no_args_is_help=False)
def identity() -> None:
    """Make members of the box, list them, remove them.

    The running service knows of it at once. A member proves their key, as with `nakari ask --as NAME.key`.
    """


@identity.command()
@click.argument("name", type=WORDS)
@click.option("--key", "file", type=PATH, metavar="FILE", help="Where the private key is put; NAME.key without it.")
@click.pass_obj
def create(invocation: Invocation, name: str, file: Path | None) -> Exit:
    """Make NAME a member with a new key.

    Prints the public key, which is their owner key. The private one goes into a file that only you can read; who has
    it, is NAME. The box keeps the public one.
    """
    config = configured(invocation)
    from memory.identity import new_key

    if not name.strip() or not name.isprintable():
        raise click.UsageError("an identity needs a name that can be read")
    private, made = new_key()
    place = file or Path(f"{name.replace('/', '_')}.key")
    _keep(private, place)  # first: a member whose key nobody has is nobody
    click.echo(f"the private key is in {place}; keep it, nobody else has it", err=True)
    return _register(config, name, made)


@identity.command()
@click.argument("name", type=WORDS)
@click.argument("key", type=WORDS)
@click.pass_obj
def add(invocation: Invocation, name: str, key: str) -> Exit:
    """Make NAME a member with a KEY made elsewhere.

    KEY is an Ed25519 public key, 64 hexadecimal digits; whoever has its private one, is NAME.
    """
    return _register(configured(invocation), name, key)


@identity.command()
@click.argument("member", type=WORDS)
@click.pass_obj
def remove(invocation: Invocation, member: str) -> Exit:
    """Make a visitor of a MEMBER, by name or key.

    What they have said stays theirs; what they have set rests until they are a member again.
    """
    config = configured(invocation)
    from appliance.owners.owners import member_of

    identities = _identities(config)
    found = member_of(identities, member)
    identities.remove(found.owner_key)
    click.echo(f"{found.name} is a visitor now.")
    return Exit.OK


@identity.command("list")
@click.option("--visitors", is_flag=True, help="Who told her something and is no member: key and number of events.")
@click.pass_obj
def list_members(invocation: Invocation, *, visitors: bool) -> Exit:
    """Print the members: owner key, since when, name.

    None of a visitor's words is shown to anybody; `nakari forget --owner KEY` erases them.
    """
    config = configured(invocation)
    members = _identities(config).members()
    if visitors:
        from appliance.owners.owners import visitors_of

        for key, count in visitors_of(config, {member.owner_key for member in members}).items():
            click.echo(f"{key}  {count}")
        return Exit.OK
    for member in members:
        click.echo(f"{member.owner_key}  {member.created_at:%Y-%m-%d}  {member.name}")
    return Exit.OK


def _identities(config: "Config") -> "Identities":
    from appliance.owners.owners import identities_of

    return identities_of(config)


def _register(config: "Config", name: str, key: str) -> Exit:
    try:
        known = _identities(config).register(name, key)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    if known.name != name.strip():
        click.echo(f"this key is {known.name}'s already", err=True)
    click.echo(known.owner_key)
    return Exit.OK


def _keep(private: bytes, place: Path) -> None:
    """Write a private key for its owner's eyes; nothing that is there is overwritten."""
    from appliance.errors import Problem

    try:
        handle = os.open(to_be_made(place), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError as error:
        raise Problem(f"{place} is there already; name another file with --key", Exit.CANNOT_CREATE) from error
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(private)
            out.flush()
            os.fsync(out.fileno())
    except OSError:
        place.unlink()  # a part of a key is none
        raise
