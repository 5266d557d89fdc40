"""Sentences of tests/data/offline-household, said to the offline model with a real journal behind it."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from agent.event import ASR_TRANSCRIPT, Event
from agent.record import entry_of
from agent.tools.journal import recall_tool
from agent.tools.tool import Call, Tool, run_tool
from memory.json_value import Json
from memory.recall import Recall
from memory.recall import index as recall_module
from memory.state import journal as journal_module
from memory.state.database import Database
from memory.state.journal import Entry, Journal
from memory.vectors.embedding import NoEmbedder
from tests.agent.clock import MORNING
from tests.agent.offline_talk import OFFLINE, Talk

FOLDER = Path(__file__).parents[2] / "data" / "offline-household"

KINDS = {
    "YES": ("Yes", "是的"),
    "NO": ("No:", "不是"),
    "UNKNOWN": ("I don't know", "I find nothing", "我不知道", "这里说过的话里没有找到", "这个我不知道"),
    "KEPT": ("I will keep that", "我记住了"),
    "NOTHING": ("You have not asked me", "你还没有让我记住"),
}
"""How each kind of answer begins."""


@dataclass
class Household:
    """What one household says, in order: (sentence, what its answer holds), nothing for what is only told."""

    said: list[tuple[str, list[str]]] = field(default_factory=list)


def households(name: str) -> Iterator[Household]:
    """Yield the households of a file."""
    current = Household()
    for line in [*(FOLDER / name).read_text(encoding="utf-8").splitlines(), ""]:
        if line.startswith("+ "):
            current.said.append((line[2:], []))
        elif line.startswith("? "):
            words, _, expected = line[2:].partition(" => ")
            current.said.append((words, [each.strip() for each in expected.split("|")]))
        elif not line.strip() and current.said:
            yield current
            current = Household()


def is_as_expected(answer: str, expected: list[str]) -> bool:
    """Say whether an answer is of each kind that is expected, and holds all the words."""
    for each in expected:
        if each == "MODEL":
            good = ("model" in answer or "模型" in answer) and not answer.startswith(("You told me", "你告诉过我"))
        elif each in KINDS:
            good = answer.startswith(KINDS[each])
        else:
            good = each.casefold() in answer.casefold()
        if not good:
            return False
    return True


class Home:
    """Says sentences to the offline model, journals them as the appliance does, and runs the real recall."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.talk = Talk(OFFLINE)
        self.search: Tool = recall_tool(Recall(journal, NoEmbedder()))
        self.seconds = 0

    async def hear(self, words: str, *, follows: bool = False) -> str:
        """Return what is answered; the words before are in the journal, and in the conversation where these follow."""
        self.seconds += 3
        at = MORNING + timedelta(seconds=self.seconds)
        event = Event(ASR_TRANSCRIPT, words, source="mic", created_at=at)
        if not follows:
            self.talk.messages = self.talk.messages[:1]
        self.talk.hear(words, at=at)
        await self._journal(event)
        said: list[str] = []
        for _ in range(8):
            calls = await self.talk.answer()
            for name, arguments in calls:
                if name == "reply":
                    said.append(str(arguments["text"]))
                    await self._journal_reply(event, len(said) - 1, said[-1])
            self.talk.result(*[await self._run(name, arguments, event) for name, arguments in calls])
            if calls[-1][0] == "complete_event":
                return " ".join(said)
        raise AssertionError("no answer")

    async def _journal_reply(self, event: Event, number: int, said: str) -> None:
        body: dict[str, Json] = {"call_id": event.id, "number": number, "words": said}
        await self.journal.append(
            Entry("speech.sentence_started", body, event.id, owner_key="household", at=event.created_at)
        )

    async def _run(self, name: str, arguments: dict[str, object], event: Event) -> str:
        if name == "recall":
            return await run_tool(self.search, json.dumps(arguments), Call("c", event))
        return "delivered" if name == "reply" else "{}"

    async def _journal(self, event: Event) -> None:
        entry = entry_of(event)
        await self.journal.append(
            Entry(
                "runs.new", {**entry.body, "source": event.source}, event.id, owner_key="household", at=event.created_at
            )
        )


@asynccontextmanager
async def a_home(folder: Path, name: str = "home") -> AsyncIterator[Home]:
    """A home with an empty journal."""
    database = Database(folder / f"{name}.sqlite3")
    await database.open(journal_module.SCHEMA, recall_module.SCHEMA)
    try:
        yield Home(Journal(database))
    finally:
        await database.close()
