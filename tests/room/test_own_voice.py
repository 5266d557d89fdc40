"""Three minutes of its own voice in five rooms: it never takes it for somebody's, and never interrupts itself."""

from collections import Counter
from pathlib import Path

import pytest

from tests.figures import figure
from tests.room.house import House, Surroundings, live
from tests.room.own_words import speech
from tests.room.rooms import ROOMS
from tests.room.stories import WARM_UP_SECONDS, Monologue, monologue

pytestmark = pytest.mark.room

SECONDS = dict.fromkeys(ROOMS, 24.0) | {"two clocks, 40 ppm apart": 48.0}
"""At least, in whole replies: one in each room, and in one of them the begin of a second."""
WHOLE_SECONDS = 600.0 / len(ROOMS)
"""With `--every-step`."""
VOICES = ("slt", "slt", "rms", "slt", "awb")
"""Of flite, one for each room."""


@pytest.mark.shows("V4", "V11")
@pytest.mark.parametrize(("room", "voice"), [*zip(ROOMS, VOICES, strict=True)])
def test_it_does_not_hear_itself(tmp_path: Path, room: str, voice: str, every_step: bool) -> None:
    seconds = WHOLE_SECONDS if every_step else SECONDS[room]
    told: list[str] = []

    async def speak(house: House) -> Monologue:
        found = await monologue(house, seconds)
        told.append(house.box.input.acting.echo.describe().partition(";")[0])
        return found

    replies = [speech(8, seed) for seed in range(12)]
    found = live(tmp_path, speak, Surroundings(answers=replies, voice=voice, loudspeaker=ROOMS[room]))
    late = [at for at in found.pauses if at > WARM_UP_SECONDS]
    figure(
        f"its own voice for {found.seconds / 60:.1f} minutes, {room}",
        f"{len(late)} self-interruptions, {len(found.transcripts)} transcripts of itself; {found.onsets} onsets, "
        f"{dict(Counter(found.suppressed))} held back; {told[0]}",
    )
    assert found.seconds >= seconds
    assert late == []
    assert found.transcripts == ()
    assert abs(found.unheard) < 0.1
