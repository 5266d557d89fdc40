"""A model that thinks for no time, in a process of its own: it says its address and answers until its input ends."""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.processes import line_of, module, speaking
from tests.agent.openai_server import OpenAiServer, Recorded, Scripted, call, calls, reply, text

ANSWER = "Yes, of course."

QUESTION = "Is it dry outside?"
LOOK = "look_outside"
SEEN = "Light rain, 9 degrees."
"""What the tool of that name finds: where it is offered, the server looks before it answers."""


@contextmanager
def model_server() -> Iterator[str]:
    """Run it, and give its base URL."""
    with speaking(module("benchmarks.model_server")) as process:
        yield line_of(process)


async def serve() -> None:
    """Answer every request at once, by the reply tool where that is offered, else bare; look first, where it can."""
    async with OpenAiServer() as server:

        def answer(request: Recorded) -> Scripted:
            server.requests.clear()
            tools = [tool["function"]["name"] for tool in request.json.get("tools", [])]
            newest = str(request.messages[-1]["content"])
            if LOOK in tools and newest.rfind(SEEN) <= newest.rfind(QUESTION):
                return calls(call(LOOK, {"where": "garden"}))
            if "final_answer" in tools:  # by which smolagents ends
                return calls(call("final_answer", {"answer": ANSWER}))
            return reply(ANSWER) if "reply" in tools else text(ANSWER)

        server.default = answer
        print(server.url, flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(serve())
