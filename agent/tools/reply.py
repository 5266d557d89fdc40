"""The reply tool: the words go out while the model still writes them; the call itself says that they are whole."""

import json
from typing import Annotated

from pydantic import Field

from agent.errors import ToolFailed
from agent.event import GROWTH, HOUSEHOLD, new_id
from agent.model.dialects.reader import words_of
from agent.model.messages import ToolCall, is_wordless
from agent.replies import Reply, ReplySink
from agent.run.run_state import RunState, letters_of
from agent.tools.registry.context import ToolContext
from agent.tools.tool import Call, Tool, tool
from memory.json_value import Json

REPLY = "reply"
DELIVERED = "delivered"
DELIVERED_THERE = "delivered there, and not to whoever spoke"
"""Of what was said in another room only."""

WHOLE = frozenset({DELIVERED, DELIVERED_THERE})
"""What came of replies that went out as they were meant."""


def reply_call(words: str) -> ToolCall:
    """Return a call of the reply tool as a model makes it."""
    return ToolCall(f"call_{new_id()[:24]}", REPLY, json.dumps({"text": words}, ensure_ascii=False))


def tools(context: ToolContext) -> list[Tool]:
    """Return reply."""
    return [reply_tool(context.run_state, context.replies)]


def reply_tool(run_state: RunState, reply_sink: ReplySink) -> Tool:
    """Return the reply tool. Where the words were not streamed into a delivery already, it delivers them whole."""

    async def reply(
        call: Call,
        *,
        room: Annotated[str, Field(description="Another room, or everywhere.")] = "",
        text: str,
        aloud: Annotated[bool, Field(description="Also say it, when they typed.")] = False,
    ) -> Json:
        """Say something to whoever the event in hand came from."""
        delivery = run_state.deliveries.get(call.id)
        given, text = text, words_of(text)
        if given.strip() and is_wordless(text):  # nothing but thinking or dots; an empty text is one's silence
            raise ToolFailed("there are no words in the text; write what is to be said")
        if delivery is None and not room:
            fresh = run_state.unrepeated()
            if letters_of(text) and not (fresh.feed(text) + fresh.finish()).strip():
                return DELIVERED  # with the bare text of the same answer, or by a call before
            whole = Reply(call.event, call.id, run_state.already, sources=run_state.sources, stages=run_state.stages)
            delivery = run_state.deliveries[call.id] = reply_sink.open(whole)
            await delivery.feed(text)
        if delivery is not None:
            await delivery.close()
        if room or (aloud and delivery is not None and delivery.is_written):
            await say(call, text, room)
        return DELIVERED if delivery is not None else DELIVERED_THERE

    async def say(call: Call, text: str, room: str) -> None:
        if call.event.owner_key != HOUSEHOLD:
            raise ToolFailed("they have it in writing; the rooms are the household's, it is not said there")
        name = f"{call.id}-{room or 'aloud'}"
        if name not in run_state.deliveries:
            spoken = Reply(call.event, name, run_state.already, is_aloud=not room, room=room)
            run_state.deliveries[name] = stream = reply_sink.open(spoken)
            run_state.elsewhere.add(name)
            await stream.feed(text)
            await stream.close()

    brief = "Say something to whoever the event came from, as one speaks; no markdown."
    return tool(reply, counted=False, effect="reversible", brief=brief, offered_in=lambda kind: kind not in GROWTH)
