"""Commands that show the configuration."""

import click

from appliance.cli.root import configured, nakari
from appliance.config.options import Invocation
from appliance.exits import Exit


@nakari.group(no_args_is_help=False)
def config() -> None:
    """Show the configuration."""


@config.command()
@click.pass_obj
def show(invocation: Invocation) -> Exit:
    """Print every value that is used; secrets by name only."""
    found = configured(invocation)
    from appliance.config.file import show as as_toml

    click.echo(f"# read from {found.file}" if found.file else "# there is no configuration file; all is default")
    click.echo(f"# state folder {found.state_folder}, socket {found.socket}")
    click.echo(f"# keys and passwords known: {', '.join(found.secrets) or 'none'}")
    click.echo(f"\n{as_toml(found)}", nl=False)
    return Exit.OK


@config.command()
def default() -> Exit:
    """Print the default file, commented, to start from."""
    from appliance.config.file import default_toml

    click.echo(default_toml(), nl=False)
    return Exit.OK
