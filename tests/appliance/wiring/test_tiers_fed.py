"""The tiers as the box wires them: whatever is merely published reaches them, and wakes what fills them."""

import asyncio
from pathlib import Path

import pytest

from agent.bus import Bus
from agent.event import Event, utc_now
from appliance.config.load import load
from appliance.wiring.memory.memory import MemorySide, memory_side
from appliance.wiring.memory.state import open_state
from audio.loops import running
from memory.state.importance import IMPORTANT
from memory.state.tiers import Tiers, TierSizes
from memory.vectors.embedding import NoEmbedder

PUBLISHED = 1_000


async def produced(bus: Bus) -> list[str]:
    """Publish a thousand envelopes as plug-ins do: in several tasks, some of them twice, some without a word."""
    events = [
        Event(
            f"plugin{number % 3}.news",
            "" if number % 10 == 0 else f"news {number}",
            parent_id="the same" if number % 7 == 0 else "",
            metadata={"number": number},
        )
        for number in range(PUBLISHED)
    ]
    async with asyncio.TaskGroup() as group:
        for start in range(0, PUBLISHED, 50):
            group.create_task(bus.publish(*events[start : start + 50]))
    await bus.publish(*events[:20])
    return [event.id for event in events]


async def until_last(side: MemorySide, name: str) -> None:
    async with asyncio.timeout(120):
        while not any(each.event_id == name for each in (await side.tiers.views("household")).recent):
            pass


@pytest.mark.shows("E17", "E16")
async def test_a_thousand_envelopes_merely_published_are_all_in_journal_and_tiers(tmp_path: Path) -> None:
    config = load(None, {"HOME": str(tmp_path)})
    async with open_state(config.state_folder) as state:
        side = memory_side(config, state, NoEmbedder(), fetches=False)
        async with running(side.loops()):
            answering: asyncio.Queue[str] = asyncio.Queue(PUBLISHED)

            async def observer(seen: Event) -> None:
                """Publish an envelope of its own for one that it sees, as a plug-in that watches another does."""
                if seen.metadata.get("number") == PUBLISHED - 1:
                    echo = Event("plugin.echo", "seen", importance=0.9)
                    await state.bus.publish(echo)
                    await answering.put(echo.id)

            async with asyncio.TaskGroup() as group:
                watching = group.create_task(state.bus.attend("plugin2.*", observer))
                watching_all = group.create_task(state.bus.attend("plugin0.*", observer))
                await asyncio.sleep(0)
                names = await produced(state.bus)
                echo = await answering.get()
                await until_last(side, echo)
                watching.cancel()
                watching_all.cancel()
            for number in range(3):  # each wakes what has come to rest
                for _ in range(50):  # whatever fills the tiers has looked in vain by then
                    await state.journal.entries(limit=1)
                await state.bus.publish(late := Event("plugin.late", f"late {number}"))
                names.append(late.id)
                await until_last(side, late.id)
        kept = [entry.id for entry in await state.journal.entries() if entry.topic.startswith("plugin")]
        assert sorted(kept) == sorted([*names, echo]), "each once"
        wide = Tiers(state.journal.database, state.journal, utc_now, TierSizes(recent=2 * PUBLISHED))
        whole = (await wide.views("household")).recent
        assert [each.event_id for each in whole] == kept, "all of them, in their order"
        assert [each.event_id for each in (await side.tiers.views("household")).recent] == kept[-50:]
        [important] = (await side.tiers.views("household")).important
        assert (important.event_id, important.marked_by) == (echo, "sender")
        assert important.importance > IMPORTANT
        assert next(each for each in whole if each.event_id == names[0]).words == '{"number":0}'
