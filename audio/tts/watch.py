"""What a voice owes whoever listens, whichever it is: sound in time, without gaps, and an end."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Final

from audio.errors import SynthesisFailed, SynthesisLate
from audio.interfaces import Synthesizer, closing
from audio.speech import SpeechAudio
from audio.tts.words import estimated_seconds

HEAD_SECONDS: Final = 0.3
"""Sound that a voice must have given before any of it is heard: most failures come earlier, and stay unheard."""

MOST_TIMES: Final = 5.0
MOST_BESIDE: Final = 10.0
"""A sentence that takes more than so many times what it is likely to, and so many seconds, has no end."""


async def watched(
    voice: Synthesizer, text: str, language: str, first_deadline: float, stall_deadline: float
) -> AsyncGenerator[SpeechAudio, None]:
    """Yield what a voice says of a text, from its first `HEAD_SECONDS` on; silence before its first sound is none.

    Raises `SynthesisLate` when they are not there within `first_deadline` seconds or a further piece takes longer than
    `stall_deadline`, `SynthesisFailed` when the sound does not end, or when all of it is digital silence.
    """
    head: list[SpeechAudio] = []
    sounding, total, most = 0.0, 0.0, MOST_TIMES * estimated_seconds(text) + MOST_BESIDE
    loop = asyncio.get_running_loop()
    by = loop.time() + first_deadline
    async with closing(voice.speak(text, language)) as pieces:
        while True:
            try:
                async with asyncio.timeout_at(by):
                    piece = await anext(pieces, None)
            except TimeoutError as error:
                late = f"no further sound within {stall_deadline:.1f} s"
                late = f"no sound within {first_deadline:.1f} s" if sounding < HEAD_SECONDS else late
                raise SynthesisLate(f"{voice.name}: {late}") from error
            if piece is None:
                break
            seconds = len(piece.samples) / piece.sample_rate
            total += seconds
            if total > most:
                raise SynthesisFailed(f"{voice.name}: the sentence has no end ({total:.0f} s of sound)")
            if sounding or piece.samples.any():
                sounding += seconds
            head.append(piece)
            if sounding < HEAD_SECONDS:
                continue
            for each in head:
                yield each
            head.clear()
            by = loop.time() + stall_deadline
    if not sounding:
        raise SynthesisFailed(f"{voice.name}: {'nothing but silence' if head else 'no sound'}")
    for each in head:
        yield each
