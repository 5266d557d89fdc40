"""Commands for the shell and for other programs: help, completion, MCP."""

import click

from appliance.cli.root import configured, nakari
from appliance.config.options import Invocation

COMPLETE = "_NAKARI_COMPLETE"
"""The variable by which a shell asks for completions; click answers it in `main`."""


@nakari.command("help")
@click.argument("command", nargs=-1)
@click.pass_context
def show_help(context: click.Context, command: tuple[str, ...]) -> None:
    """Explain nakari, or one COMMAND of it."""
    within = context.find_root()
    found: click.Command = within.command
    for name in command:
        inside = found.get_command(within, name) if isinstance(found, click.Group) else None
        if inside is None:
            raise click.UsageError(f"there is no command {' '.join(command)!r}", within)
        within, found = click.Context(inside, parent=within, info_name=name), inside
    click.echo(found.get_help(within))


@nakari.command()
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def completion(shell: str) -> None:
    """Print what lets a SHELL complete commands with Tab.

    For bash it belongs into ~/.local/share/bash-completion/completions/nakari, for zsh into a file _nakari in a folder
    of $fpath, for fish into ~/.config/fish/completions/nakari.fish.
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(nakari, {}, "nakari", COMPLETE).source())


@nakari.command()
@click.pass_obj
def mcp(invocation: Invocation) -> None:
    """Let another program use the memory.

    MCP over standard input and output. Off until [memory] mcp = true. What it writes is audited as the agent's own is;
    reading changes nothing.
    """
    import asyncio

    config = configured(invocation)
    from appliance.admin.mcp_server import serve

    asyncio.run(serve(config))
