"""The MCP servers of the box: their owner tasks, their tools in the registry, and the images that these give."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

import structlog
from msgspec import Struct

from agent.attachments import formats
from agent.attachments.attachment import Image
from agent.errors import NotAttached
from agent.model.messages import ToolSpec
from agent.run.run_state import RunState
from agent.tools.mcp.choosing import Chosen, chosen, share_of
from agent.tools.mcp.owner import PACE, Owner, Pace
from agent.tools.mcp.server import Offered, Server
from agent.tools.registry.registry import ToolRegistry
from agent.tools.registry.sharing import for_members
from agent.tools.tool import AnyArguments, Call, Tool
from memory.errors import MemoryFailure
from memory.json_value import Json
from memory.state.images import Images

NOT_SHARED: Final = "the tools of {server} are the household's, and whoever speaks is no member of it: do without them"

GRACE_SECONDS: Final = 2.0
"""For a server that was told to stop a call, until nobody waits for it any more."""

log = structlog.get_logger()


class Showing(Struct, frozen=True):
    """Lays images beside the result of a call, for the run to show them."""

    images: Images
    run_state: RunState

    async def lay(self, call: Call, source: str, contents: Sequence[bytes]) -> None:
        """Keep these files as long as the event, and lay them beside the result; `source` is whose they are.

        What is no image that can be shown, or cannot be kept, is left out, and logged.
        """
        laid: list[Image] = []
        for number, content in enumerate(contents, 1):
            name = f"image {number} of {source}"
            try:
                header = formats.checked(name, content)
                digest = await self.images.keep(call.event.owner_key, content)
                laid.append(Image(digest, header.media_type, header.width, header.height, len(content), name))
                await self.images.refer(call.event.owner_key, call.event.id, {digest: len(content)})
            except (NotAttached, MemoryFailure, OSError) as error:
                log.warning("image_not_shown", source=source, reason=str(error))
        if laid:
            self.run_state.images[call.id] = (*self.run_state.images.get(call.id, ()), *laid)


class McpServers:
    """Keeps all servers connected, and what they offer in the registry.

    A server that is away keeps its tools there, and each answers that it is unavailable: the list of tools does not
    change with it. A tool that its server took off its list is unavailable at once; a new or a changed one joins where
    the next epoch opens (`agent.context.epochs`).
    """

    def __init__(
        self,
        servers: Sequence[Server],
        registry: ToolRegistry,
        shares: Callable[[str], bool],
        showing: Showing,
        pace: Pace = PACE,
    ) -> None:
        self._registry = registry
        self._showing = showing
        self._ours = frozenset(registry.names)
        self._shares = shares
        """Whether an owner may use the household's tools, by its key; asked at each call."""
        self.owners = {server.name: Owner(server, partial(self._join, server.name), pace) for server in servers}
        """By the server's name."""
        self._chosen: dict[str, Chosen] = {}

    async def run(self) -> None:
        """Run the owner task of each server until cancelled; return at once when there is none."""
        async with asyncio.TaskGroup() as group:
            for name, owner in self.owners.items():
                group.create_task(owner.run(), name=f"mcp: {name}")

    def describe(self) -> Mapping[str, Json]:
        """Return of each server whether it is connected, how many tools it has here, and what is wrong."""
        return {name: _description(owner, self._chosen.get(name, Chosen())) for name, owner in self.owners.items()}

    def _join(self, name: str, offered: Sequence[Offered]) -> None:
        """Let the registry have these tools of a server from now on, as far as they may join."""
        owner = self.owners[name]
        found = chosen(owner.server, offered, self._ours, share_of(len(self.owners)))
        self._registry.join(name, [self._tool(owner, spec, tool) for spec, tool in found.tools])
        self._chosen[name] = found
        if wrong := found.left_out():
            log.warning("mcp_tools_left_out", server=name, **wrong)

    def _tool(self, owner: Owner, spec: ToolSpec, offered: Offered) -> Tool:
        server = owner.server

        async def answered(root: dict[str, Json], call: Call) -> Json:
            said = await owner.call(offered.name, root)
            await self._showing.lay(call, server.name, said.images)
            more = await server.adds(said.words) if server.adds else ""
            return f"{said.words}\n{more}" if more else said.words

        timeout = server.timeout + GRACE_SECONDS
        effect, hidden = server.effect_of(offered), (("call", Call),)
        asks = partial(server.asks_first, offered) if server.asks_first else None
        made = Tool(spec, AnyArguments, answered, hidden, timeout, effect=effect, asks_first=asks, outside=server.name)
        return for_members(made, self._shares, NOT_SHARED.format(server=server.name))


def _description(owner: Owner, found: Chosen) -> dict[str, Json]:
    description: dict[str, Json] = {"state": owner.state, "tools": len(found.tools), "losses": owner.losses}
    if owner.reason:
        description["reason"] = owner.reason
    return description | found.left_out()
