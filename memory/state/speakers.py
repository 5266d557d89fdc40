"""Corrections of who said something: entries of their own, by which every view tells another name."""

from typing import Final

from memory.state.journal import Journal

CORRECTED: Final = "speakers.corrected"
"""The journal's topic of a correction, an entry of the event that it is about: `speaker` said it, not `was`."""

SETTLED: Final = "speakers.settled"
"""Of its end: what was filed by the old name has the new one, in the graph too; `of` is the correction's id."""


async def corrections(journal: Journal, owner_key: str) -> dict[str, str]:
    """Return who said what was corrected, by the events' ids. Raises `StateUnusable`."""
    found = await journal.entries(topic=CORRECTED, owner_key=owner_key)
    return {each.event_id: str(each.body["speaker"]) for each in found if "speaker" in each.body}
