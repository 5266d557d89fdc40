"""Answers what is asked of the past: turns and their times, why one was slow, and what an answer came of."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec import Struct

from agent.event import HOUSEHOLD
from agent.intents.intent import Language
from agent.mailbox import Mailbox
from agent.turns.waterfall import LAST, Turn, slowest, turns_of, usual, why_slow
from appliance.admin.exchange import DATABASE
from appliance.errors import Exit, Problem
from appliance.insight.why import why
from appliance.recorder.store import Recordings
from memory.json_value import Json
from memory.state.database import DatabaseView
from memory.state.journal import Journal


class Insight(Struct, frozen=True):
    """Looks into the journal; each owner sees what is theirs alone."""

    journal: Journal
    mailbox: Mailbox
    recordings: Recordings

    async def turns(self, owner_key: str, last: int = LAST) -> dict[str, Json]:
        """Return the newest turns, the newest first, and p50 and p95 (s) of each kind's answer and steps."""
        found = await turns_of(self.journal, owner_key, last)
        return {**self._usual(found), "turns": [_told(turn) for turn in reversed(found)]}

    async def usual(self, owner_key: str = HOUSEHOLD) -> dict[str, Json]:
        """Return p50 and p95 (s) of the last turns, for the status."""
        return self._usual(await turns_of(self.journal, owner_key))

    async def turn(self, owner_key: str, name: str = "", language: Language = "en") -> dict[str, Json]:
        """Return one turn, and why it took as long as it did, as a sentence that compares it with those before it.

        `name` is the id of its event or run, or the beginning of one; "" is the last turn. Raises `Problem`
        where there is no such turn.
        """
        found = await turns_of(self.journal, owner_key, 10 * LAST)
        wanted = [turn for turn in found if _is_called(turn, name)]
        if not wanted:
            what = f"no turn is called {name!r}; `nakari turns` lists them" if name else "there was no turn yet"
            raise Problem(what, Exit.NO_INPUT)
        turn = wanted[-1]
        before = [each for each in found if each.seq < turn.seq][-LAST:]
        step = slowest(turn, before)
        return {**_told(turn), "slowest": step, "why": why_slow(turn, before, language), **self._usual(before)}

    async def why(self, owner_key: str, name: str) -> dict[str, Json]:
        """Return what came of an event and what it came of; see `appliance.insight.why.why`."""
        return await why(self.journal, self.mailbox, name, owner_key)

    async def recorded(self) -> dict[str, Json]:
        """Return how many turns may be recorded, how many are, and their bytes, for the status."""
        kept, size = await asyncio.to_thread(self.recordings.measure)
        return {"turns": self.recordings.limits.turns, "kept": kept, "bytes": size}

    async def recordings_listed(self) -> dict[str, Json]:
        """Return what is recorded, the newest first, without the sound."""
        found = await asyncio.to_thread(self.recordings.listed)
        return {"recordings": [each.about() for each in found]}

    async def recording(self, name: str) -> dict[str, Json]:
        """Return what one turn was decided by, without its sound. Raises `Problem` where there is none."""
        found = await asyncio.to_thread(self.recordings.find, name)
        return {**found.about(), "probability": [round(each, 3) for each in found.probability.tolist()]}

    @staticmethod
    def _usual(turns: list[Turn]) -> dict[str, Json]:
        kinds = {"spoken": [turn for turn in turns if turn.is_spoken], "written": [t for t in turns if not t.is_spoken]}
        told: dict[str, Json] = {}
        for kind, of_kind in kinds.items():
            told[kind] = {"turns": sum(turn.counts for turn in of_kind), "seconds": _json(usual(of_kind))}
        return told


def _is_called(turn: Turn, name: str) -> bool:
    """Whether a name is of this turn: the id of its event or run, or the beginning of one; "" is of every turn."""
    return turn.event_id.startswith(name) or turn.run_id.startswith(name)


def _told(turn: Turn) -> dict[str, Json]:
    answered: dict[str, Json] = {"answer_seconds": turn.answered_at}
    steps: dict[str, Json] = {name: round(seconds, 4) for name, seconds in turn.steps.items()}
    return {"event_id": turn.event_id, "run_id": turn.run_id, **turn.body, **answered, "steps": steps}


def _json(seconds: dict[str, dict[str, float]]) -> dict[str, Json]:
    return {name: dict(each) for name, each in seconds.items()}


@asynccontextmanager
async def insight_beside(state_folder: Path, recordings: Recordings) -> AsyncIterator[Insight]:
    """Look into the state folder beside whatever may be running there. Raises `StateUnreadable`."""
    view = DatabaseView(state_folder / DATABASE)
    await view.open()
    try:
        yield Insight(Journal(view), Mailbox(view), recordings)
    finally:
        await view.close()
