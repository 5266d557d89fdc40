"""The command that erases: what was told last, or everything of one owner."""

import sys
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

import click

from appliance.cli.root import AS_KEY, WORDS, configured, nakari
from appliance.config.options import Invocation
from appliance.exits import Exit

if TYPE_CHECKING:
    from appliance.config.load import Config

PATIENCE = 600.0
"""Seconds that forgetting a turn may take: the graph is made again without it, from snapshot and audit log."""

MOST_MINUTES = 100_000
"""As many as the door takes (`appliance.api.requests.Forget`): some seventy days."""

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


@nakari.command()
@click.option("--last", type=click.IntRange(1, 1000), metavar="N", help="The last N things; 1 if not given.")
@click.option("--minutes", type=_MINUTES, metavar="M", help="Everything of M minutes.")
@click.option(
    "--owner", type=WORDS, metavar="KEY|NAME", help="Everything that a visitor, or a member, has ever said here."
)
@click.option("--everything", "owner", flag_value=MINE, help="Everything of yours; show who you are with --as.")
@AS_KEY
@click.option("--yes", is_flag=True, help="Do not ask whether that is meant.")
@click.pass_obj
def forget(
    invocation: Invocation,
    last: int | None,
    minutes: float | None,
    owner: str | None,
    key_file: Path | None,
    *,
    yes: bool,
) -> Exit:
    """Erase what it was told last, or everything of an owner.

    What the household told its last is meant, aloud in the room or in writing, with what came of it: words, sounds,
    context, and what it wrote into the graph because of it. "Forget what you just heard", said aloud, means the room
    alone. What other owners said stays.

    With --owner, or --everything, an owner's words, events, timers, settings, membership and graph go, and what they
    had its write into the household's graph. This works without the service too.

    It is for good. That something was said, and its digest, stay. Backups of before are not reached, nor is what
    somebody else said of it.
    """
    if last is not None and minutes is not None:
        raise click.UsageError("either --last or --minutes")
    if owner is None:
        if key_file is not None or yes:
            raise click.UsageError("--as and --yes are for --everything, --yes for --owner too")
        return _turns(configured(invocation), last, minutes)
    if (owner == MINE) is (key_file is None):
        raise click.UsageError("--everything goes with --as KEYFILE, and --owner KEY|NAME without")
    if last is not None or minutes is not None:
        raise click.UsageError("either a number, or minutes, or everything of an owner")
    return _everything(configured(invocation), owner, key_file, is_sure=yes)


def _turns(config: "Config", last: int | None, minutes: float | None) -> Exit:
    import asyncio

    from appliance.api.client import find_service, tell
    from memory.json_value import Json

    request: dict[str, Json] = {"do": "forget"}
    request |= {"last": last or 1} if minutes is None else {"minutes": minutes}
    click.echo(asyncio.run(tell(find_service(config.sockets), request, PATIENCE))["done"])
    return Exit.OK


def _everything(config: "Config", owner: str, key_file: Path | None, *, is_sure: bool) -> Exit:
    import asyncio

    from appliance.admin.local import erase_everything
    from appliance.api.client import find_service, follow, read_key
    from appliance.cli.telling import on_terminal
    from appliance.owners.owners import identities_of, owner_of
    from memory.identity import sign

    key = b"" if key_file is None else read_key(key_file)
    identities = identities_of(config)
    whose = owner_of(identities, owner) if key_file is None else identities.find(sign(key, "")[0])
    _confirm(f"{whose.name} ({whose.owner_key})" if whose.name else whose.owner_key, is_sure=is_sure)
    if key:
        done = asyncio.run(follow(find_service(config.sockets), {"do": "forget.owner"}, on_terminal(), key))
    else:
        done = asyncio.run(erase_everything(config, whose.owner_key, on_terminal()))
    click.echo(done)
    return Exit.OK


def _confirm(whose: str, *, is_sure: bool) -> None:
    if is_sure:
        return
    if not sys.stdin.isatty():
        raise click.UsageError(f"everything of {whose} would go for good; say --yes where nobody can be asked")
    if not click.confirm(f"Everything of {whose} goes for good. Is that meant?", err=True):
        raise click.exceptions.Exit(Exit.FAULT)
