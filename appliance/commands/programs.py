"""Commands that other programs start to come in."""

import click

from appliance.commands.root import configured, nakari
from appliance.exits import Exit
from appliance.options import Invocation


@nakari.command()
@click.pass_obj
def mcp(invocation: Invocation) -> Exit:
    """Let another program use her memory.

    MCP over standard input and output. Off until [memory] mcp = true. What it writes is audited as hers is; reading
    changes nothing.
    """
    import asyncio

    config = configured(invocation)
    from appliance.mcp_server import serve

    asyncio.run(serve(config))
    return Exit.OK
