"""The reply tool: the words go out while the model still writes them; the call itself says that they are whole."""

from typing import Annotated

from pydantic import Field

from agent.replies import Reply, ReplySink
from agent.run.run_state import RunState
from agent.tools.tool import Call, Tool, tool
from memory.json_value import Json

REPLY = "reply"
DELIVERED = "delivered"


def reply_tool(run_state: RunState, reply_sink: ReplySink) -> Tool:
    """Return the reply tool. Where the words were not streamed into a delivery already, it delivers them whole."""

    async def reply(
        call: Call,
        text: Annotated[str, Field(description="What you say, as one speaks; no markdown.")],
    ) -> Json:
        """Say something to whoever the event in hand came from; heard sentence by sentence while you write."""
        delivery = run_state.deliveries.get(call.id)
        if delivery is None:
            delivery = run_state.deliveries[call.id] = reply_sink.open(Reply(call.event, call.id, run_state.already))
            await delivery.feed(text)
        await delivery.close()
        return DELIVERED

    return tool(reply, counted=False, effect="reversible")
