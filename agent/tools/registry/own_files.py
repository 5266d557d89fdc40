"""A person's own files in a running box: their observers, and those files that took too long for the start."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial

import structlog
from msgspec import Struct

from agent.bus import Bus
from agent.context.situation import SituationProvider
from agent.tools.registry.discovery import Discovered, FileContent, Loading
from agent.tools.registry.registry import ToolRegistry

log = structlog.get_logger()


class OwnFiles(Struct, frozen=True):
    """What files add, joined to the parts that use it."""

    discovered: Discovered
    registry: ToolRegistry
    situation: list[SituationProvider]
    """Appended to when a late file knows something."""
    bus: Bus
    shares: Callable[[str], bool]
    """Whether an owner may use the tools."""

    def loops(self) -> dict[str, Callable[[], Coroutine[None, None, None]]]:
        """Return the observers, until cancelled, and what waits for files that are still being loaded."""
        late = {f"own: {each.file}, once it is loaded": partial(self._join, each) for each in self.discovered.late}
        return {**self.discovered.loops(self.bus), **late}

    async def _join(self, late: Loading) -> None:
        """Wait for a file, and add what it adds: its tools are offered from the next epoch on."""
        done, _ = await asyncio.wait([asyncio.wrap_future(late.content)])
        done.pop().exception()  # taken note of here, and told by `keep`
        content = self.discovered.keep(late.file, partial(self._fitting, late), self.shares)
        self.registry.join(f"own: {late.file}", content.tools)
        self.situation.extend(content.situation)
        log.info("tool_file_joined", file=late.file, tools=[tool.name for tool in content.tools])
        async with asyncio.TaskGroup() as group:
            for each in content.observers:
                group.create_task(self.bus.attend(each.topic, each.observe), name=f"own: {late.file}, {each.topic}")

    def _fitting(self, late: Loading) -> FileContent:
        content = late.content.result()
        if taken := next((tool.name for tool in content.tools if self.registry.find(tool.name)), ""):
            raise ValueError(f"there is a tool named {taken} already: rename this one")
        return content
