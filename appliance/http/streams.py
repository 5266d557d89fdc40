"""Server-sent events: what goes on, as it comes, to `curl -N`, an EventSource, or any program."""

import asyncio
from pathlib import Path
from typing import Annotated, Final

from fastapi import APIRouter, Header, Query
from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event
from starlette.responses import FileResponse, Response, StreamingResponse
from starlette.types import Send

import appliance.live as streams_package
from appliance.http.caller import Asks
from appliance.live.live import Live
from appliance.live.readers import SEND_SECONDS, Packet

HEARTBEAT_SECONDS: Final = 15.0
"""Without a message after which a comment is sent, so that nobody on the way takes the connection for dead."""

SCHEMA: Final = Path(streams_package.__file__).with_name("protocol.schema.json")

LAST_PLACE: Final = 2**63 - 1
"""SQLite's largest number of a row."""


def router(live: Live) -> APIRouter:
    """Return the route of the stream."""
    routes = APIRouter()

    @routes.get(
        "/stream",
        status_code=200,  # FastAPI finds none by itself in a response class with parameters of its own
        response_class=EventStream,
        responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
    )
    async def stream(
        caller: Asks,
        after: Annotated[int | None, Query(ge=0, le=LAST_PLACE)] = None,
        last_event_id: Annotated[str, Header(max_length=100)] = "",
        levels: bool = True,
    ) -> Response:
        """Stream what goes on, of whoever asks: a snapshot, then each message as JSON, with its place as its id.

        With `Last-Event-ID`, as a browser that comes back sends it, or `after`: first what was missed, as far as it was
        journaled. `levels` is whether the loudness of ears and mouth is told, ten times a second.
        """
        place = int(last_event_id) if last_event_id.isdecimal() and int(last_event_id) <= LAST_PLACE else after
        live.readers.check_room(caller.owner_key)
        return EventStream(live, caller.owner_key, place, levels=levels)

    @routes.get("/stream/schema", response_class=FileResponse)
    async def schema(caller: Asks) -> Response:
        """Return the JSON Schema of what streams and WebSocket say, and are told."""
        return FileResponse(SCHEMA, media_type="application/schema+json")

    return routes


class EventStream(StreamingResponse):
    """A stream that ends when its reader goes, or takes nothing for too long."""

    media_type = "text/event-stream"

    def __init__(self, live: Live, owner_key: str, after: int | None, *, levels: bool) -> None:
        super().__init__((), headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        self._live = live
        self._reading = live.reading(owner_key, after, levels=levels)

    async def stream_response(self, send: Send) -> None:
        """Send what comes."""
        async with self._reading as reader:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            while True:
                packets = await reader.take(HEARTBEAT_SECONDS)
                body = b"".join(map(_event, packets)) or KEEPALIVE_COMMENT
                try:
                    async with asyncio.timeout(SEND_SECONDS):
                        await send({"type": "http.response.body", "body": body, "more_body": True})
                except TimeoutError:
                    self._live.readers.leave(reader)
                    return


def _event(packet: Packet) -> bytes:
    return format_sse_event(event=packet.name, data_str=packet.json, id=None if packet.seq is None else str(packet.seq))
