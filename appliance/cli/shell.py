"""Commands that other programs start to come in."""

import click

from appliance.cli.root import configured, nakari
from appliance.config.options import Invocation
from appliance.exits import Exit


@nakari.command()
@click.pass_obj
def mcp(invocation: Invocation) -> Exit:
    """Let another program use the memory.

    MCP over standard input and output. Off until [memory] mcp = true. What it writes is audited as its own is; reading
    changes nothing.
    """
    import asyncio

    config = configured(invocation)
    from appliance.admin.mcp_server import serve

    asyncio.run(serve(config))
    return Exit.OK
