"""Envelopes as journal entries: the bus's one durable subscriber."""

from collections.abc import Mapping
from typing import Final

from agent.event import Event
from memory.json_value import Json
from memory.state.database import Change
from memory.state.importance import UNSET
from memory.state.journal import Entry, Journal

STEPS_SOURCE: Final = "loop"
"""Source of the steps of a run: their event has the rest."""

COMMAND: Final = "system.command"
COMMAND_RESULT: Final = "command.result"
"""Topics of what somebody had it do at once, as it came and as it ended; both have one `run_id`."""

_BESIDE: Final = {"source": "system", "target": "", "status": "pending", "result": "", "error": "", "importance": UNSET}
"""Fields of an envelope that is no step of a run, and what they are where there is nothing to write down."""


class Recorder:
    """Writes every published envelope into the journal; idempotent by the envelope's id."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def __call__(
        self, events: tuple[Event, ...], *, in_transaction: Change | None = None, durable: bool = True
    ) -> None:
        """Write the envelopes in order, and then what goes along with them, in one transaction; durable on return.

        Not `durable`, a cut of the power may take them back, until the next that are.
        """
        await self._journal.append(*map(entry_of, events), in_transaction=in_transaction, durable=durable)


def step(topic: str, cause: Event, run_id: str, body: Mapping[str, Json] | None = None, words: str = "") -> Event:
    """Return the envelope of one step of `cause`'s run.

    `words` is what a person said or heard in it: the journal finds the step by them, and logs may redact them.
    """
    return Event(
        type=topic,
        content=words,
        owner_key=cause.owner_key,
        session_id=cause.session_id,
        parent_id=cause.id,
        source=STEPS_SOURCE,
        metadata={"run_id": run_id, **(body or {})},
    )


def entry_of(event: Event) -> Entry:
    """Return the journal entry of an envelope; its body is the metadata, with the content under `words`.

    What is merely published has beside it what else its envelope says: source, target, status, result, error and
    importance, each unless it is the default or the metadata has the name.
    """
    body = dict(event.metadata)
    run_id = str(body.pop("run_id", ""))
    if event.source != STEPS_SOURCE:
        said = {name: getattr(event, name) for name in _BESIDE}
        body = {name: value for name, value in said.items() if value != _BESIDE[name]} | body
    if event.content:
        body["words"] = event.content
    return Entry(
        topic=event.type,
        body=body,
        event_id=event.parent_id or event.id,
        run_id=run_id,
        session_id=event.session_id,
        owner_key=event.owner_key,
        id=event.id,
        at=event.created_at,
    )
