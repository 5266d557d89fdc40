"""Commands about tokens: what programs and phones show over HTTP to be let in."""

from typing import TYPE_CHECKING

import click

from appliance.cli.root import WORDS, configured, nakari
from appliance.cli.telling import AS_JSON, json_of, tell_json
from appliance.cli.terminal import table
from appliance.config.options import Invocation
from appliance.errors import Exit, Problem

if TYPE_CHECKING:
    from appliance.owners.owners import Tokens


@nakari.group(no_args_is_help=False)
def token() -> None:
    """Make tokens for HTTP, list them, revoke them.

    A program of the household on this machine needs none. The running service heeds a change at once.
    """


@token.command()
@click.argument("name", type=WORDS)
@click.option("--owner", type=WORDS, metavar="OWNER", help="A member's name, or a key; the household's without it.")
@click.pass_obj
def create(invocation: Invocation, name: str, owner: str | None) -> None:
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
        tell_json({"tokens": json_of(found)})
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
