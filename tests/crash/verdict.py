"""The verdict on a story: what must hold after its last life, by what is on the disk."""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, cast

from msgspec import Struct

from agent import mailbox as mailbox_module
from agent.context.epoch import digest_of
from agent.context.epochs import EPOCH, MESSAGE
from agent.context.summary import REQUEST
from agent.mailbox import Mailbox, MailboxRecord
from agent.model.messages import Message
from agent.replies import INTERRUPTED, SENTENCE_STARTED
from agent.run.opening import CRASHED
from agent.tools.reply import DELIVERED, REPLY
from memory.state import journal as journal_module
from memory.state.journal import Journal, Stored
from tests.crash.body import sounded
from tests.crash.deaths import noted
from tests.crash.elsewhere import left_in
from tests.crash.life import NOON
from tests.crash.script import SENTENCE, arrivals

TOLD_LATER: Final = "interrupted: the machine stopped here"

CLOSED: Final = {"completed", "dead", "withdrawn"}


class Remains(Struct, frozen=True):
    """What a story has left."""

    events: dict[str, MailboxRecord]
    """All that ever was in the mailbox, by id."""
    closings: list[tuple[str, str, str]]
    """Id, state before and after of each change that closed an event, or touched a closed one."""
    entries: list[Stored]
    """The journal."""
    accepted: list[str]
    """Ids of which the sender was told that they are in the mailbox."""
    rung: list[str]
    """Ids of the calls whose effect cannot be taken back."""
    notes: list[str]
    """What the lives themselves found wrong."""
    sound: list[str]
    """Sentences that sounded, in order."""


async def remains(folder: Path) -> Remains:
    """Read what is on the disk."""
    async with left_in(folder, journal_module.SCHEMA, mailbox_module.SCHEMA) as database:
        mailbox, journal = Mailbox(database), Journal(database)
        names = await database.read(lambda c: [row["id"] for row in c.execute("SELECT id FROM mailbox")])
        filed = {name: await mailbox.find(name) for name in names}
        return Remains(
            {name: found for name, found in filed.items() if found is not None},
            await database.read(_closings),
            await journal.entries(),
            noted(folder / "ledger", "accepted"),
            noted(folder / "ledger", "rung"),
            [f"{verb}: {name}" for verb in ("illegal", "left") for name in noted(folder / "ledger", verb)],
            sounded(folder / "sound"),
        )


def _closings(connection: sqlite3.Connection) -> list[tuple[str, str, str]]:
    return [tuple(row) for row in connection.execute("SELECT id, was, became FROM closings")]


def complaints(left: Remains, seed: int) -> list[str]:
    """Return all that is wrong, nothing when it never lost its place."""
    found = [*left.notes, *_lost(left, seed), *_not_ended(left), *_closed_twice(left), *_repeated(left)]
    return [*found, *_denied(left), *_unspoken(left), *_not_rebuilt(left.entries)]


def _lost(left: Remains, seed: int) -> Iterator[str]:
    for arrival in arrivals(seed, NOON):
        if arrival.event.id not in left.accepted:
            yield f"{arrival.event.id} was never accepted"
    for name in left.accepted:
        if name not in left.events:
            yield f"{name} was accepted and is lost"


def _not_ended(left: Remains) -> Iterator[str]:
    """Every event is closed with its reason, or waits for what has not happened."""
    for name, filed in left.events.items():
        waits = filed.state == "suspended" and filed.waits_for and filed.due_at is None
        if filed.state not in CLOSED and not waits:
            yield f"{name} was left {filed.state}"
        if filed.state in {"dead", "withdrawn"} and not filed.reason:
            yield f"{name} is {filed.state} without a reason"
        if filed.state == "dead" and "an error inside" in filed.reason:
            yield f"{name} died of a bug: {filed.reason}"


def _closed_twice(left: Remains) -> Iterator[str]:
    for name, was, became in left.closings:
        if was in CLOSED:
            yield f"{name} was {was} already when it became {became}"
    for name, times in Counter(name for name, _, _ in left.closings).items():
        if times > 1:
            yield f"{name} was closed {times} times"


def _repeated(left: Remains) -> Iterator[str]:
    """No sentence sounded twice, none before its commit, and no effect happened twice."""
    began = Counter(" ".join(words.split()[:4]) for words in left.sound if words.startswith("Part"))
    for words, times in began.items():
        if times > 1:
            yield f"{words!r} sounded {times} times"
    committed = [str(entry.body["words"]) for entry in left.entries if entry.topic == SENTENCE_STARTED]
    for words in left.sound:
        if not any(sentence.startswith(words) for sentence in committed):
            yield f"{words!r} sounded without a commit"
    for words, times in Counter(words for words in committed if SENTENCE.fullmatch(words)).items():
        if times > 1:
            yield f"{words!r} was committed {times} times"
    for call, times in Counter(left.rung).items():
        if times > 1:
            yield f"the effect of {call} happened {times} times"


def _denied(left: Remains) -> Iterator[str]:
    """What was done outside was in the journal before, and it is told that it was done, or that nobody knows.

    A call that the journal does not know would be made once more, by whoever is asked again.
    """
    journaled = {str(entry.body["call_id"]) for entry in left.entries if entry.topic == "tools.requests"}
    messages = [_message(entry) for entry in left.entries if entry.topic == MESSAGE]
    results = {message.tool_call_id: message.content for message in messages if message.role == "tool"}
    for call in left.rung:
        if call not in journaled:
            yield f"the effect of {call} happened, and the journal knows of no such call"
        if results.get(call, CRASHED) not in {"rung", CRASHED}:
            yield f"the effect of {call} happened, and it was told: {results[call]}"


def _unspoken(left: Remains) -> Iterator[str]:
    """What it was told that it has said was begun; a person's event that was not cut short has words."""
    for name, filed in left.events.items():
        entries = [entry for entry in left.entries if entry.event_id == name]
        committed = [str(entry.body["words"]) for entry in entries if entry.topic == SENTENCE_STARTED]
        was_cut_short = any(entry.topic == INTERRUPTED for entry in entries)
        if filed.state != "completed" or was_cut_short or filed.summary.startswith("interrupted"):
            continue
        if filed.event.is_from_person and not committed:
            yield f"{name} is completed without a word"
        for sentence in _delivered(entries):
            if sentence not in committed:
                yield f"{name}: {sentence!r} counts as delivered and was never begun"


def _delivered(entries: list[Stored]) -> Iterator[str]:
    """Return the sentences of the replies that were delivered, as the context says.

    Where another event came first after a kill, it is told in the event's next turn how far the mouth got.
    """
    messages = [_message(entry) for entry in entries if entry.topic == MESSAGE]
    corrected = [place for place, message in enumerate(messages) if TOLD_LATER in message.content]
    messages = messages[max(corrected, default=0) :]
    delivered = {message.tool_call_id for message in messages if message.content == DELIVERED}
    for call in (call for message in messages for call in message.tool_calls):
        if call.name == REPLY and call.id in delivered:
            yield from (match.group() for match in SENTENCE.finditer(call.arguments))


def _not_rebuilt(entries: list[Stored]) -> Iterator[str]:
    """The list of every call of the model can be made again from the journal, to the byte."""
    epochs = {
        entry.id: [_from(message) for message in _of(entry)["messages"]] for entry in entries if entry.topic == EPOCH
    }
    for entry in entries:
        if entry.topic == MESSAGE:
            epochs[str(entry.body["epoch"])].append(_message(entry))
        if entry.topic != "llm.requests":
            continue
        rebuilt = epochs[str(entry.body["epoch"])] + ([REQUEST] if "asked" in entry.body else [])
        if len(rebuilt) != entry.body["messages"] or digest_of(rebuilt) != entry.body["digest"]:
            yield f"the list of the call at {entry.seq} cannot be rebuilt"


def _of(entry: Stored) -> dict[str, Any]:
    return cast("dict[str, Any]", entry.body)


def _from(message: dict[str, Any]) -> Message:
    return Message.from_json(message)


def _message(entry: Stored) -> Message:
    return Message.from_json(_of(entry)["message"])
