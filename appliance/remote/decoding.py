"""A sound file that somebody sent, decoded in a child process that may die of it."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import numpy as np

from agent.child import reading_child
from appliance.errors import Exit, Problem
from audio.pcm import Samples

MOST_BYTES: Final = 25_000_000
"""Of a file: two minutes of 48 kHz stereo, uncompressed."""

MOST_SECONDS: Final = 120.0
"""Of sound in it: what somebody says at one go."""

ARRIVAL_SECONDS: Final = 60.0
"""That a file may take to arrive."""

DECODING_SECONDS: Final = 20.0
"""That a child may take on a busy machine; its own bound is of processor time."""

_PROGRAM: Final = Path(__file__).with_name("decode.py")


async def decoded(pieces: AsyncIterator[bytes]) -> Samples:
    """Return the sound of a WAV, Opus, WebM, MP3, MP4 or FLAC file as int16, shape (n,), 16 kHz mono.

    The file comes in pieces, and the child is started meanwhile. Raises `Problem`, one sentence with the fix, for what
    is no sound, too large, too long, or too slow to come.
    """
    async with reading_child(_PROGRAM, f"{MOST_SECONDS:g}") as child:
        try:
            async with asyncio.timeout(ARRIVAL_SECONDS):
                content = await _whole(pieces)
        except TimeoutError as error:
            raise Problem("the sound took too long to arrive; send it in one go", Exit.USAGE) from error
        told = b""
        with suppress(TimeoutError):
            async with asyncio.timeout(DECODING_SECONDS):
                told, _ = await child.communicate(content)
    head, _, samples = told.partition(b"\n")
    try:
        found = json.loads(head)
    except ValueError as error:  # it was killed: out of memory or of time
        raise Problem("this sound takes too much to decode; send plain 16 kHz mono WAV or Opus", Exit.USAGE) from error
    if "error" in found:
        raise Problem(str(found["error"]), Exit.USAGE)
    return np.frombuffer(samples, np.int16)


async def _whole(pieces: AsyncIterator[bytes]) -> bytes:
    content = bytearray()
    async for piece in pieces:
        content += piece
        if len(content) > MOST_BYTES:
            raise Problem(f"more than {MOST_BYTES // 1_000_000} MB; send it compressed, or in parts", Exit.USAGE)
    return bytes(content)
