"""A person's own files in a running box: their observers, and those files that took too long for the start."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial

import structlog

from agent.bus import Bus
from agent.context.situation import SituationProvider
from agent.tools.registry.discovery import Discovered, FileContent, Loading
from agent.tools.registry.registry import ToolRegistry
from memory.json_value import Json

log = structlog.get_logger()


class OwnFiles:
    """What files add, joined to the parts that use it."""

    def __init__(
        self,
        discovered: Discovered,
        registry: ToolRegistry,
        situation: list[SituationProvider],
        bus: Bus,
        shares: Callable[[str], bool],
    ) -> None:
        """`situation` is appended to when a late file knows something; `shares` says who may use the tools."""
        self._discovered = discovered
        self._registry = registry
        self._situation = situation
        self._bus = bus
        self._shares = shares

    def describe(self) -> dict[str, Json]:
        """Return the person's own tools and what is wrong with their files, for the status and the doctor."""
        return self._discovered.describe()

    def loops(self) -> dict[str, Callable[[], Coroutine[None, None, None]]]:
        """Return the observers, until cancelled, and what waits for files that are still being loaded."""
        late = {f"own: {each.file}, once it is loaded": partial(self._join, each) for each in self._discovered.late}
        return {**self._discovered.loops(self._bus), **late}

    async def _join(self, late: Loading) -> None:
        """Wait for a file, and add what it adds: its tools are offered from the next epoch on."""
        done, _ = await asyncio.wait([asyncio.wrap_future(late.content)])
        done.pop().exception()  # taken note of here, and told by `keep`
        content = self._discovered.keep(late.file, partial(self._fitting, late), self._shares)
        self._registry.join(f"own: {late.file}", content.tools)
        self._situation.extend(content.situation)
        log.info("tool_file_joined", file=late.file, tools=[tool.name for tool in content.tools])
        async with asyncio.TaskGroup() as group:
            for each in content.observers:
                group.create_task(self._bus.attend(each.topic, each.observe), name=f"own: {late.file}, {each.topic}")

    def _fitting(self, late: Loading) -> FileContent:
        content = late.content.result()
        if taken := next((tool.name for tool in content.tools if self._registry.find(tool.name)), ""):
            raise ValueError(f"there is a tool named {taken} already: rename this one")
        return content
