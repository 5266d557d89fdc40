"""A model that thinks for no time, in a process of its own: it says its address and answers until its input ends."""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.processes import line_of, module, speaking
from tests.agent.openai_server import OpenAiServer, Recorded, Scripted, reply, text

ANSWER = "Yes, of course."


@contextmanager
def model_server() -> Iterator[str]:
    """Run it, and give its base URL."""
    with speaking(module("benchmarks.model_server")) as process:
        yield line_of(process)


async def serve() -> None:
    """Answer every request at once: by the reply tool where that is offered, else in bare text."""
    async with OpenAiServer() as server:

        def answer(request: Recorded) -> Scripted:
            server.requests.clear()
            tools = [tool["function"]["name"] for tool in request.json.get("tools", [])]
            return reply(ANSWER) if "reply" in tools else text(ANSWER)

        server.default = answer
        print(server.url, flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(serve())
