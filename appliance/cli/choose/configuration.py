"""Commands about the configuration file."""

from typing import cast

import click

from appliance.cli import terminal
from appliance.cli.root import NAME, TEXT, configured, loaded, nakari
from appliance.cli.telling import asked
from appliance.config.options import Invocation
from appliance.hints import typed_here


@nakari.group(no_args_is_help=False)
def config() -> None:
    """Show, check and change the configuration."""


@config.command()
@click.pass_obj
def show(invocation: Invocation) -> None:
    """Print every value that is used; secrets by name only."""
    found = configured(invocation)
    from appliance.config.file import show as as_toml

    click.echo(f"# read from {found.file}" if found.file else "# there is no configuration file; all is default")
    click.echo(f"# state folder {found.state_folder}, socket {found.socket}")
    click.echo(f"# keys and passwords known: {', '.join(found.secrets) or 'none'}")
    click.echo(f"\n{as_toml(found)}", nl=False)


@config.command()
def default() -> None:
    """Print the default file, commented, to start from."""
    from appliance.config.file import default_toml

    click.echo(default_toml(), nl=False)


@config.command()
@click.pass_obj
def check(invocation: Invocation) -> None:
    """Say whether the file is right, and what is wrong in it.

    Ends with 78 and the sentence that names file, line and key when it is not.
    """
    found = loaded(invocation)
    told = f"{found.file} is right" if found.file else "there is no configuration file; all is default"
    terminal.show(told, terminal.OK)


@config.command("set", context_settings={"ignore_unknown_options": True})  # south of the equator: -33.86
@click.argument("key", type=NAME)
@click.argument("value", type=TEXT)
@click.pass_obj
def set_value(invocation: Invocation, key: str, value: str) -> None:
    """Set KEY (section.key) to VALUE in the file.

    Comments stay. Nothing is written when the value would be wrong. `nakari config reload` takes some values over;
    the others hold from the next start on.
    """
    from appliance.admin.reload import LIVE
    from appliance.config import edit
    from appliance.config.load import where_to_write

    file = where_to_write(invocation.file)
    edit.set_value(file, key, value)
    until = "`nakari config reload`, or the next start," if key in LIVE else "the next start"
    click.echo(typed_here(f"{key} is set in {file}; it holds from {until} on"))


@config.command()
@click.pass_obj
def reload(invocation: Invocation) -> None:
    """Have the service that runs read its configuration again.

    Loudness, what is logged and how much is said unasked change at once, as with `systemctl reload nakari`; it names
    what has to wait for the next start. A file with a mistake in it changes nothing.
    """
    told = asked(loaded(invocation), {"do": "config.reload"})
    now, later = (cast("list[str]", told[name]) for name in ("now", "later"))
    for key in now:
        click.echo(f"{key} holds from now on")
    for key in later:
        click.echo(f"{key} holds from the next start on")
    if not now and not later:
        click.echo("nothing has changed in it")


@config.command()
@click.pass_obj
def path(invocation: Invocation) -> None:
    """Print where the file is, or would be."""
    from appliance.config.load import where_to_write

    click.echo(where_to_write(invocation.file))
