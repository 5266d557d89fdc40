"""Images that tools give: kept with the event in hand, and shown behind the results of their calls."""

from collections.abc import Sequence

import structlog
from msgspec import Struct

from agent.attachments import formats
from agent.attachments.attachment import Image
from agent.errors import NotAttached
from agent.run.run_state import RunState
from agent.tools.tool import Call
from memory.errors import MemoryFailure
from memory.state.images import Images

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
