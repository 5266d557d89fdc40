"""An utterance as a file: what was understood, and the answer as text, or as sound."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Annotated, Final, Literal, TypeAlias
from urllib.parse import quote

import numpy as np
from fastapi import APIRouter, Query
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse

from agent.mailbox import MailboxRecord
from appliance.api.outcome import Outcome
from appliance.errors import Exit, Problem
from appliance.http.caller import Asks
from appliance.remote.decoding import decoded
from appliance.remote.outbox import Heard, SoundBegins, SoundEnds, Trouble
from appliance.remote.place import House, Places
from appliance.remote.visit import Answered, Visit
from audio.pcm import wav_header
from audio.resampler import StreamResampler
from memory.json_value import Json

Form: TypeAlias = Literal["text", "wav", "pcm"]
"""Lines of JSON; one WAV of unknown length; the same samples bare."""

LONGEST_HEADER: Final = 1000
"""Characters of the words in a header."""

_TAKEN: Final = {
    "requestBody": {
        "required": True,
        "content": {
            kind: {"schema": {"type": "string", "format": "binary"}}
            for kind in ("audio/wav", "audio/ogg", "audio/webm", "audio/mpeg", "audio/mp4", "audio/flac")
        },
    }
}


def router(house: House, places: Places, find: Callable[[str], Awaitable[MailboxRecord | None]]) -> APIRouter:
    """Return the route that hears; `find` looks an event up by its id."""
    routes = APIRouter()

    @routes.post("/audio", response_class=Response, openapi_extra=_TAKEN)
    async def audio(
        request: Request,
        caller: Asks,
        session: Annotated[str, Query(min_length=1, max_length=200)] = "audio",
        speak: Form = "text",
    ) -> Response:
        """Take a recording of somebody (WAV, Opus in Ogg, WebM, MP3, AAC in MP4, FLAC; two minutes, 25 MB at most).

        The answer comes as it is made. As text, a line of JSON each: what was heard with the event's id, or with the
        reason why it was held back; the reply's pieces; how it ended. As sound (wav, pcm: mono, 16 bits,
        little-endian), with what was heard in the header X-Heard; lines of JSON where there is nothing to hear.
        """
        if request.headers.get("content-encoding", "identity") != "identity":
            raise Problem("send the sound as it is, without a content encoding", Exit.USAGE)
        try:
            samples = await decoded(request.stream())
        except ClientDisconnect:
            return Response(status_code=400)  # nobody reads it
        whose = caller.owner_key, caller.session(session)
        visit = Visit(house, *whose, samples, find, speaks=speak != "text")
        places.add(visit)
        answers = visit.answers()
        first = await _first(answers, speak)
        if begins := next((each for each in first if isinstance(each, SoundBegins)), None):
            return _sound(first, begins, answers, speak)
        return StreamingResponse(_lines(first, answers), media_type="application/x-ndjson")

    return routes


async def _first(answers: AsyncGenerator[Answered], form: Form) -> list[Answered]:
    """Return what comes before it is known which kind of answer it will be. Raises `Problem` for a refusal."""
    first: list[Answered] = []
    try:
        async for answer in answers:
            first.append(answer)
            is_held_back = isinstance(answer, Heard) and not answer.event_id
            if form == "text" or is_held_back or isinstance(answer, SoundBegins | Trouble):
                break
    except BaseException:
        await answers.aclose()
        raise
    if first and isinstance(refusal := first[0], Trouble):
        await answers.aclose()
        raise Problem(refusal.sentence, refusal.code or Exit.FAULT)
    return first


def _sound(
    before: list[Answered], begins: SoundBegins, answers: AsyncGenerator[Answered], form: Form
) -> StreamingResponse:
    """Return the reply as sound of one sample rate, whichever voices speak in it."""
    heard = next((each for each in before if isinstance(each, Heard)), Heard(""))
    headers = {
        "X-Heard": quote(heard.text[:LONGEST_HEADER]),
        "X-Event": heard.event_id,
        "X-Sample-Rate": str(begins.sample_rate),
    }

    async def pieces() -> AsyncIterator[bytes]:
        if form == "wav":
            yield wav_header(begins.sample_rate)
        resampler = StreamResampler(begins.sample_rate, begins.sample_rate)
        async with aclosing(answers):
            async for answer in answers:
                if isinstance(answer, bytes):
                    yield resampler.feed(np.frombuffer(answer, "<i2")).astype("<i2").tobytes()
                elif isinstance(answer, SoundBegins):
                    resampler = StreamResampler(answer.sample_rate, begins.sample_rate)
                elif isinstance(answer, SoundEnds):
                    yield resampler.flush().astype("<i2").tobytes()

    kind = "audio/wav" if form == "wav" else f"audio/pcm;rate={begins.sample_rate};channels=1"
    return StreamingResponse(pieces(), media_type=kind, headers=headers)


async def _lines(before: list[Answered], answers: AsyncGenerator[Answered]) -> AsyncIterator[bytes]:
    async with aclosing(answers):
        ended: dict[str, Json] = {"event": "run_finished", "status": "completed"}
        for answer in before:
            yield _line(answer)
        async for answer in answers:
            if isinstance(answer, Outcome):
                ended |= {"status": answer.status, "id": answer.event_id, "reason": answer.reason}
            else:
                yield _line(answer)
        if any(isinstance(each, Heard) and each.event_id for each in before):
            yield _framed(ended)


def _line(answer: Answered) -> bytes:
    match answer:
        case Heard(text, event_id, held_back):
            told: dict[str, Json] = {"event": "heard", "text": text, "event_id": event_id or None}
            return _framed({**told, "held_back": held_back} if held_back else told)
        case str():
            return _framed({"event": "text_chunk", "chunk": answer})
        case Trouble(sentence, code):
            return _framed({"error": sentence, "code": None if code is None else int(code)})
        case _:
            return b""


def _framed(told: dict[str, Json]) -> bytes:
    return json.dumps(told, ensure_ascii=False).encode(errors="replace") + b"\n"
