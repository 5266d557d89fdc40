"""Stories told in the room by tests and benchmarks alike: it speaks for long; somebody speaks while it does."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from msgspec import Struct

from audio.pcm import SAMPLE_RATE
from tests.room.acoustics import Sound, from_samples, level_dbfs
from tests.room.house import House
from tests.room.virtual_time import passed
from tests.room.voices import spoken

WARM_UP_SECONDS: Final = 1.5
"""Of its voice after the start, in which the canceller may still settle (issue 4)."""

SETTLE_SECONDS: Final = 4.0
"""After the start: a chime that measures the echo is over by then."""

QUIET_BETWEEN: Final = 1.5
"""Seconds between two replies."""


class Monologue(Struct, frozen=True):
    """What came of its speaking for long while nobody else did."""

    replies: int
    seconds: float
    """Of its sound."""
    pauses: tuple[float, ...]
    """When it fell silent inside a reply, in seconds of its sound since the first."""
    onsets: int
    """Times that something was taken for the beginning of speech."""
    transcripts: tuple[str, ...]
    """That reached the mailbox."""
    suppressed: tuple[str, ...]
    """Why others did not."""
    unheard: float
    """Share of what was made for it to say that did not sound."""


async def monologue(house: House, seconds: float) -> Monologue:
    """Have it speak, one reply after the other, for so long."""
    await passed(SETTLE_SECONDS)
    first, made = len(house.card.played), len(house.voice.sentences)
    onsets, replies, pauses = len(house.turns.started), 0, list[float]()
    while (sounded := _sounded(house, first)) < seconds:
        before = len(house.card.played)
        await house.ask()
        await house.silence()
        replies += 1
        stretches = house.card.played[before:]
        pauses += [sounded + end - stretches[0][0] for _, end in stretches[:-1]]
        await passed(QUIET_BETWEEN)
    wanted = sum(len(spoken(each, house.voice.voice)) / SAMPLE_RATE for each in house.voice.sentences[made:])
    return Monologue(
        replies=replies,
        seconds=_sounded(house, first),
        pauses=tuple(pauses),
        onsets=len(house.turns.started) - onsets,
        transcripts=tuple(house.turns.taken_up),
        suppressed=tuple(why for _, _, why in house.turns.ended if why),
        unheard=1 - _sounded(house, first) / wanted,
    )


def _sounded(house: House, first: int) -> float:
    return sum(end - start for start, end in house.card.played[first:])


class Interruption(Struct, frozen=True):
    """What came of one sound made while it spoke."""

    silent_after: float | None
    """Seconds from the sound's first sample until its loudspeaker was silent; None when it spoke on."""
    went_on_after: float | None
    """Seconds from then until it went on with the same reply; None when it did not."""
    taken_up: tuple[str, ...]
    """The words that reached the mailbox."""
    suppressed: tuple[str, ...]
    """Why others did not."""
    unheard: float
    """Seconds of the reply that did not sound."""


WAITED_SECONDS: Final = 6.0
"""After a sound's beginning: the pause, its two seconds, and the words are over by then."""


async def warm_up(house: House) -> float:
    """Have it say one reply undisturbed; return the level of its voice at the microphone, dBFS."""
    await passed(SETTLE_SECONDS)
    house.card.recording = []
    await house.ask()
    await house.silence()
    heard, house.card.recording = np.concatenate(house.card.recording), None
    await passed(QUIET_BETWEEN)
    return level_dbfs(from_samples(heard))


async def interrupt(house: House, sound: Sound, dbfs: float, after: float) -> Interruption:
    """Have somebody make a sound `after` seconds of its next reply; return what came of it, when all is said."""
    turns, made = len(house.turns.ended), len(house.voice.sentences)
    await house.ask()
    first = len(house.card.played) - 1
    onset = house.card.played[first][0] + after
    house.put(sound, dbfs, after=onset - house.now)
    await passed(onset + WAITED_SECONDS - house.now)
    await house.silence()
    taken_up = house.turns.since(turns)
    stretches = house.card.played[first:]
    at = next(number for number, (_, end) in enumerate(stretches) if end > onset)
    goes_on = [start for start, _ in stretches[at + 1 :]] if not taken_up else []
    was_silent = bool(taken_up) or bool(goes_on)
    silent_at = stretches[at][1]
    wanted = sum(len(spoken(each, house.voice.voice)) / SAMPLE_RATE for each in house.voice.sentences[made:])
    await passed(QUIET_BETWEEN)
    return Interruption(
        silent_after=silent_at - onset if was_silent else None,
        went_on_after=goes_on[0] - silent_at if goes_on else None,
        taken_up=tuple(taken_up),
        suppressed=tuple(why for _, _, why in house.turns.ended[turns:] if why),
        unheard=wanted - sum(end - start for start, end in stretches),
    )


def quantile(values: Sequence[float], share: float) -> float:
    """Return the value that a share of the values does not exceed."""
    return float(np.quantile(np.array(values), share, method="inverted_cdf"))
