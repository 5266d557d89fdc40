"""Commands that look after who the box knows."""

import os
from pathlib import Path

import click

from appliance.commands.root import PATH, configured, nakari
from appliance.exits import Exit
from appliance.options import Invocation


@nakari.group(no_args_is_help=False)
def identity() -> None:
    """Make members of the box, and list them."""


@identity.command()
@click.argument("name")
@click.option("--key", "file", type=PATH, metavar="FILE", help="Where the private key is put; NAME.key without it.")
@click.option("--public", metavar="KEY", help="Register this public key (64 hexadecimal digits) instead of a new one.")
@click.pass_obj
def create(invocation: Invocation, name: str, file: Path | None, public: str | None) -> Exit:
    """Make NAME a member and print the public key, which is their owner key.

    A new private key goes into a file that only you can read; who has it, is NAME. The box keeps the public one.
    """
    config = configured(invocation)
    from memory.identity import Identities, new_key

    identities = Identities(config.state_folder / "identities")
    if public and file:
        raise click.UsageError("a public key has its private one elsewhere: leave --key out")
    private, made = new_key()
    if not public:
        place = file or Path(f"{name.replace('/', '_')}.key")
        _keep(private, place)  # first: a member whose key nobody has could not be got rid of
        click.echo(f"the private key is in {place}; keep it, nobody else has it", err=True)
    try:
        known = identities.register(name, public or made)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    click.echo(known.owner_key)
    return Exit.OK


@identity.command("list")
@click.pass_obj
def list_members(invocation: Invocation) -> Exit:
    """Print the members: owner key, since when, name."""
    config = configured(invocation)
    from memory.identity import Identities

    for member in Identities(config.state_folder / "identities").members():
        click.echo(f"{member.owner_key}  {member.created_at:%Y-%m-%d}  {member.name}")
    return Exit.OK


def _keep(private: bytes, place: Path) -> None:
    """Write a private key for its owner's eyes; nothing that is there is overwritten."""
    handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as out:
        out.write(private)
