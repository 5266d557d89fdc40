"""Questions of programs that speak another's protocol: put in once, however often they are sent, and what they took."""

from collections.abc import AsyncGenerator, Callable, Mapping
from datetime import timedelta
from typing import Final, TypeAlias

from msgspec import Struct, field

from agent.attachments.attachment import PROGRAM_SAYS, Document
from agent.event import new_id
from agent.mailbox import MailboxRecord, State
from agent.replies import SOURCES
from appliance.api.handler import Household
from appliance.api.outcome import Outcome, outcome_of
from appliance.output.text import WRITTEN, below
from memory.json_value import Json, fields, number
from memory.state.journal import Journal

RETRY_TIME: Final = timedelta(minutes=30)
"""How old a question may be that is asked again: OpenAI's SDK waits 10 minutes for each of three tries."""

_LOOKED_AT: Final = 20
"""Newest events of an owner and a state among which it is looked for."""

_STATES: Final[tuple[State, ...]] = ("in_hand", "pending", "suspended", "completed", "dead", "withdrawn")


class Question(Struct, frozen=True):
    """What is asked, and by whom."""

    text: str
    """The person's newest words: all before them the agent remembers itself."""
    session: str
    owner_key: str
    event_id: str = field(default_factory=new_id)
    """The event that it becomes; the same for what is told to be the same request."""
    is_keyed: bool = False
    """Whether the program named the request, so that a second one of that name is the first."""
    is_retry: bool = False
    """Whether the program says that it asked this before and got no answer."""
    attached: tuple[str, ...] = ()
    """Names of what came beside it, as they were attached."""
    program: str = ""
    """What the program says of itself and of the answer that it wants; "" where that is known already."""


class Figures(Struct, frozen=True):
    """What an answer took, as the providers of the models counted it."""

    prompt_tokens: int = 0
    cached_tokens: int = 0
    """Of those, read from a cache."""
    completion_tokens: int = 0


Item: TypeAlias = str | Outcome | Figures
"""A piece of the answer; how it ended, unless it was completed; what it took."""


class ProgramQuestions(Struct, frozen=True):
    """Answers programs (`appliance.http.compat.question.Asking`)."""

    house: Household
    journal: Journal
    models: Callable[[], Mapping[str, Json]]
    """What the status says of who thinks."""
    _coming: set[str] = set()
    """Events whose questions are being answered for the first time."""

    async def ask(self, question: Question) -> AsyncGenerator[Item, None]:
        """Yield the answer, how it ended, and what it took. A question that is there already is not put in again."""
        event_id = await self._earlier(question)
        if event_id:
            async for piece in self._again(event_id):
                yield piece
        else:
            self._coming.add(event_id := question.event_id)
            try:
                async for piece in self._first(question):
                    yield piece
            finally:
                self._coming.discard(event_id)
        yield _figures(await self.house.mailbox.find(event_id))

    async def attach(self, owner_key: str, name: str, file_name: str, content: bytes) -> None:
        """Keep an image or a document for the question that names it. Raises `NotAttached`."""
        await self.house.attaching.keep(owner_key, name, file_name, content)

    def sees(self) -> bool:
        """Whether who thinks now is shown images."""
        return self.models().get("sees") is True

    def window(self) -> int:
        """Return the tokens that who thinks now reads; 0 where that is not known."""
        return int(number(fields(self.models().get("window")).get("tokens")))

    def _first(self, question: Question) -> AsyncGenerator[str | Outcome, None]:
        said = question.program
        beside = (Document(PROGRAM_SAYS, said, "the program that was written with"),) if said else ()
        return self.house.ask(
            question.text,
            question.session,
            question.owner_key,
            attached=(*question.attached, *beside),
            event_id=question.event_id,
        )

    async def _earlier(self, question: Question) -> str:
        """Return the id of the event that this question is already, "" where it is new."""
        if question.is_keyed:
            is_there = question.event_id in self._coming or await self.house.mailbox.find(question.event_id) is not None
            return question.event_id if is_there else ""
        if not question.is_retry:
            return ""
        oldest = self.house.mailbox.now() - RETRY_TIME
        same = [
            filed.event
            for state in _STATES
            for filed in await self.house.mailbox.listed(state, _LOOKED_AT, question.owner_key)
            if (filed.event.session_id, filed.event.content) == (question.session, question.text)
            and filed.event.created_at > oldest
        ]
        return max(same, key=lambda event: event.created_at).id if same else ""

    async def _again(self, event_id: str) -> AsyncGenerator[str | Outcome, None]:
        """Yield the whole answer to an event once its run is over, and the outcome where it was not completed."""
        steps = self.house.bus.observe("ui.events")
        try:
            if event_id in self._coming or _is_under_way(await self.house.mailbox.find(event_id)):
                async for step in steps:
                    if step.parent_id == event_id and step.metadata.get("event") == "run_finished":
                        break
        finally:
            self.house.bus.forget(steps)
        words = ""
        for entry in await self.journal.entries(topic=(WRITTEN, SOURCES), event_id=event_id):
            said = str(entry.body.get("words", ""))
            words = said if entry.topic == WRITTEN else words
            yield f"{said}\n" if entry.topic == WRITTEN else below(said, words)
        if (outcome := outcome_of(await self.house.mailbox.find(event_id))) is not None:
            yield outcome


def _is_under_way(filed: MailboxRecord | None) -> bool:
    """Whether an event is at work or comes next, and waits for nothing else."""
    return filed is not None and (filed.state == "in_hand" or (filed.state == "pending" and not filed.waits_for))


def _figures(filed: MailboxRecord | None) -> Figures:
    figures = filed.figures if filed is not None else {}
    asked, cached, answered = (
        count if isinstance(count := figures.get(name), int) else 0
        for name in ("prompt_tokens", "cached_tokens", "completion_tokens")
    )
    return Figures(asked, cached, answered)
