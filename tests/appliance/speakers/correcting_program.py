"""Corrects who said an event, says so once that is noted, and is killed before the graph hears of it."""

import asyncio
import sys
from pathlib import Path
from typing import cast

from appliance.speakers.speakers import Speakers, Voices
from appliance.speakers.store import VoiceStore
from appliance.wiring.memory.state import open_state
from memory.history.writer import Writer


async def never() -> None:
    print("noted", flush=True)  # noqa: T201  the test reads it
    await asyncio.Event().wait()


async def main(folder: Path, event_id: str) -> None:
    async with open_state(folder) as state:
        filed = await state.mailbox.find(event_id)
        assert filed is not None
        no_writer = cast("Writer", object())  # it is never come so far
        await Speakers(Voices(VoiceStore(folder)), state, no_writer, never).correct("Ben", filed.event, event_id)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
