"""Answers what is asked of the past: turns and their times, why one was slow, and what an answer came of, in steps."""

import asyncio
import re
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from agent.context.epochs import MESSAGE
from agent.event import HOUSEHOLD, utc_text
from agent.intents.intent import Language
from agent.mailbox import Mailbox
from agent.model.messages import Message
from agent.replies import INTERRUPTED, SENTENCE_STARTED
from agent.turns.stages import TURN_ENDED
from agent.turns.waterfall import LAST, Turn, slowest, turns_of, usual, why_slow
from appliance.admin.exchange import viewed
from appliance.errors import Exit, Problem
from appliance.input.suppressed import EARS_SUPPRESSED
from appliance.output.text import WRITTEN
from appliance.output.voice import SENTENCE_ENDED
from appliance.recorder.store import Recordings
from memory.json_value import Json, number, objects
from memory.state.journal import WORDS, Journal, Stored

MOST_FOUND: Final = 10
"""Entries with the words asked for that are looked at."""

_CALL: Final = """
SELECT event_id FROM journal WHERE owner_key = :owner_key AND body ->> 'call_id' = :name
AND topic IN ('tools.requests', 'speech.sentence_started', 'speech.written') ORDER BY seq DESC LIMIT 1
"""

_BEGINNING: Final = re.compile(r"[0-9a-f]{6,31}")
"""Of an id, as it is listed."""

_BEGUN: Final = """
SELECT event_id FROM journal
WHERE owner_key = :owner_key AND event_id >= :name AND event_id < :name || 'g' LIMIT 1
"""

_COUNTS: Final = ("prompt_tokens", "cached_tokens", "completion_tokens", "cost_usd", "first_token_seconds", "seconds")
"""What is told of a model's call, as the provider counted it, and seconds."""


async def _found(journal: Journal, name: str, owner_key: str) -> tuple[str, Stored | None]:
    """Return the id of the event that is meant, and the entry with the words where those were asked for."""
    entry = await journal.entry(name)
    if entry is not None and entry.owner_key == owner_key:
        return entry.event_id, entry if WORDS in entry.body else None
    for found in (await journal.entries(event_id=name, limit=1), await journal.entries(run_id=name, limit=1)):
        if found and found[0].owner_key == owner_key:
            return found[0].event_id, None
    looks = [_BEGUN, _CALL] if _BEGINNING.fullmatch(name) else [_CALL]
    for look in looks:
        if event_id := await journal.database.read(_event_by(look, name, owner_key)):
            return event_id, None
    said = [each for each in await journal.search(name, owner_key, MOST_FOUND) if each.event_id]
    exact = [each for each in said if name.casefold() in _words(each)]
    whole = exact or [each for each in said if all(word in _words(each) for word in name.casefold().split())]
    if not whole:
        raise Problem(f"nothing here is called {name!r}, and nobody said that", Exit.NO_INPUT)
    best = max(whole, key=lambda each: each.seq)
    return best.event_id, best


def _words(entry: Stored) -> str:
    return str(entry.body.get(WORDS, "")).casefold()


def _event_by(statement: str, name: str, owner_key: str) -> Callable[[sqlite3.Connection], str]:
    def look(connection: sqlite3.Connection) -> str:
        row = connection.execute(statement, {"name": name, "owner_key": owner_key}).fetchone()
        return str(row["event_id"]) if row else ""

    return look


async def _event(mailbox: Mailbox, event_id: str, owner_key: str, entries: Sequence[Stored]) -> dict[str, Json]:
    filed = await mailbox.find(event_id)
    if filed is None or filed.event.owner_key != owner_key:  # said otherwise than for an event: a reflex, `nakari say`
        return {"id": event_id, "type": "", "at": utc_text(entries[0].at), "session": entries[0].session_id}
    event = filed.event
    known: dict[str, Json] = {
        "id": event.id,
        "type": event.type,
        "source": event.source,
        "session": event.session_id,
        "at": utc_text(event.created_at),
        "words": event.content,
        "state": filed.state,
        "parent_id": event.parent_id,
        "continues": str(event.metadata.get("continues", "")),
        "evidence": event.metadata.get("evidence"),
    }
    return {name: value for name, value in known.items() if value not in ("", None)}


def _steps(entries: Sequence[Stored]) -> Iterator[Json]:
    """Yield what happened, each with its `kind` and time; steps that only repeat another one are left out."""
    results, ended = _results(entries), {_key(each): each for each in entries if each.topic == SENTENCE_ENDED}
    asked = {str(each.body.get("cycle")): each for each in entries if each.topic == "llm.requests"}
    finished = {_key(each)[0]: each for each in entries if each.body.get("event") == "tool_call_finished"}
    told: dict[str, Callable[[Stored], dict[str, Json]]] = {
        "runs.new": lambda each: {"kind": "run", "run_id": each.run_id, "attempt": each.body.get("attempt")},
        "llm.results": lambda each: _model_call(each, asked.get(str(each.body.get("cycle")))),
        "tools.requests": lambda each: _tool_call(each, finished, results),
        SENTENCE_STARTED: lambda each: _said(each, ended.get(_key(each))),
        WRITTEN: lambda each: {"kind": "written", "text": each.body.get(WORDS), "call_id": each.body.get("call_id")},
        EARS_SUPPRESSED: lambda each: {"kind": "held_back", **_only(each, "reason", "text_spoken", "evidence")},
        INTERRUPTED: lambda each: {"kind": "interrupted", **_only(each, "heard", "unsaid")},
        TURN_ENDED: lambda each: {"kind": "turn", "turn": dict(each.body)},
        "ui.events": lambda each: {"kind": "end", "run_id": each.run_id, "status": each.body.get("status")},
    }
    for entry in entries:
        about: dict[str, Json] = {"at": utc_text(entry.at), "id": entry.id}
        if not entry.is_whole:
            yield {"kind": "gone", **about, "topic": entry.topic, "why": ", ".join(entry.body)}
        elif entry.topic in told and (entry.topic != "ui.events" or entry.body.get("event") == "run_finished"):
            yield {**told[entry.topic](entry), **about}


def _key(entry: Stored) -> tuple[str, str]:
    """Return what a sentence is known by: its reply, and its place in it."""
    return str(entry.body.get("call_id")), str(entry.body.get("number"))


def _only(entry: Stored, *names: str) -> dict[str, Json]:
    return {name: entry.body.get(name) for name in names}


def _model_call(entry: Stored, request: Stored | None) -> dict[str, Json]:
    body = entry.body
    return {
        "kind": "model",
        "model": body.get("model"),
        "request_id": request.id if request is not None else "",
        "epoch": request.body.get("epoch") if request is not None else "",
        "messages": request.body.get("messages") if request is not None else 0,
        "finish_reason": body.get("finish_reason"),
        **{name: body[name] for name in _COUNTS if name in body},
        "tool_calls": body.get("tool_calls", []),
    }


def _tool_call(entry: Stored, finished: Mapping[str, Stored], results: Mapping[str, str]) -> dict[str, Json]:
    call_id = str(entry.body.get("call_id"))
    ended = finished.get(call_id)
    return {
        "kind": "tool",
        "tool": entry.body.get("tool_name"),
        "call_id": call_id,
        "args": entry.body.get("args"),
        "result": results.get(call_id, ""),
        **(_only(ended, "status", "seconds") if ended is not None else {}),
    }


def _said(entry: Stored, ended: Stored | None) -> dict[str, Json]:
    told: dict[str, Json] = {"kind": "said", "text": entry.body.get(WORDS), "call_id": entry.body.get("call_id")}
    if ended is None:
        return told | {"heard": None, "whole": False}
    return told | {"heard": ended.body.get("heard"), "whole": ended.body.get("whole", False)}


def _results(entries: Iterable[Stored]) -> dict[str, str]:
    """Return what the model was told of each call, by the call's id."""
    found = {}
    for entry in entries:
        if entry.topic == MESSAGE and entry.is_whole:
            with suppress(ValueError):
                message = Message.from_json(entry.body.get("message"))
                if message.tool_call_id:
                    found[message.tool_call_id] = message.content
    return found


def _sentence(entry: Stored, entries: Sequence[Stored]) -> dict[str, Json]:
    """Return the words that were asked for, and which call of a model they came of, where they are an answer."""
    is_answer = entry.topic in (SENTENCE_STARTED, WRITTEN)
    asked = [each for each in entries if each.topic == "llm.requests" and each.seq < entry.seq]
    told: dict[str, Json] = {
        "text": entry.body.get(WORDS),
        "at": utc_text(entry.at),
        "by": "it" if is_answer else "you",
    }
    return told | ({"request_id": asked[-1].id, "model": asked[-1].body.get("model")} if is_answer and asked else {})


def lines_of(told: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    """Yield an answer of `why` for people: a title and a text each, in the order in which it happened."""
    if isinstance(sentence := told.get("sentence"), Mapping):
        yield "sentence" if sentence.get("by") == "it" else "words", f"{sentence.get('text')}"
    event = told["event"]
    assert isinstance(event, Mapping)
    words = f": {event['words']}" if event.get("words") else ""
    yield "event", f"{event.get('type') or 'none'} {event['id']} from {event.get('source', 'the box')}{words}"
    if isinstance(evidence := event.get("evidence"), Mapping):
        yield "heard", ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in evidence.items())
    for step in objects(told["steps"]):
        make = _LINES.get(str(step["kind"]))
        if make is not None and (line := make(step)):
            yield str(step["kind"]), line
    if cost := told.get("cost_usd"):
        yield "cost", f"{cost} USD"


def _model_line(step: Mapping[str, Json]) -> str:
    tokens = f"{step.get('prompt_tokens', 0)} tokens in ({step.get('cached_tokens', 0)} cached)"
    times = f"{step.get('completion_tokens', 0)} out in {step.get('seconds', 0)} s"
    return f"{step['model']}: {tokens}, {times}; epoch {step['epoch']}, call {step['request_id']}"


def _said_line(step: Mapping[str, Json]) -> str:
    heard = "heard whole" if step["whole"] else f"heard up to: {step['heard'] or 'nothing'}"
    return f"{step['text']}  ({heard})"


_LINES: Final[Mapping[str, Callable[[Mapping[str, Json]], str]]] = {
    "model": _model_line,
    "tool": lambda step: f"{step['tool']} {step['args']} -> {step['result']}",
    "said": _said_line,
    "written": lambda step: str(step["text"]),
    "held_back": lambda step: f"{step['text_spoken'] or 'no words'}  ({step['reason']})",
    "interrupted": lambda step: f"heard {step['heard']!r}, unsaid {step['unsaid']!r}",
    "end": lambda step: f"{step['status']} (run {step['run_id']})",
    "gone": lambda step: f"{step['topic']}: {step['why']}",
}


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
        wanted = [turn for turn in found if turn.event_id.startswith(name) or turn.run_id.startswith(name)]
        if not wanted:
            what = f"no turn is called {name!r}; `nakari turns` lists them" if name else "there was no turn yet"
            raise Problem(what, Exit.NO_INPUT)
        turn = wanted[-1]
        before = [each for each in found if each.seq < turn.seq][-LAST:]
        step = slowest(turn, before)
        return {**_told(turn), "slowest": step, "why": why_slow(turn, before, language), **self._usual(before)}

    async def why(self, owner_key: str, name: str) -> dict[str, Json]:
        """Return what came of an event and what it came of, in the order in which it happened.

        `name` is an id of an event (or its beginning), a run, a call or an entry of the journal, or words that were
        said, heard or written. Another owner's is not found. Raises `Problem` where there is nothing of that name.
        """
        event_id, sentence = await _found(self.journal, name, owner_key)
        entries = [each for each in await self.journal.entries(event_id=event_id) if each.owner_key == owner_key]
        if not entries:
            raise Problem(f"nothing here is called {name!r}, and nobody said that", Exit.NO_INPUT)
        costs = (number(each.body.get("cost_usd")) for each in entries if each.topic == "llm.results")
        told: dict[str, Json] = {
            "event": await _event(self.mailbox, event_id, owner_key, entries),
            "steps": list(_steps(entries)),
            "cost_usd": round(sum(costs), 6),
        }
        return told if sentence is None else {**told, "sentence": _sentence(sentence, entries)}

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
            seconds: dict[str, Json] = {name: dict(each) for name, each in usual(of_kind).items()}
            told[kind] = {"turns": sum(turn.counts for turn in of_kind), "seconds": seconds}
        return told


def _told(turn: Turn) -> dict[str, Json]:
    answered: dict[str, Json] = {"answer_seconds": turn.answered_at}
    steps: dict[str, Json] = {name: round(seconds, 4) for name, seconds in turn.steps.items()}
    return {"event_id": turn.event_id, "run_id": turn.run_id, **turn.body, **answered, "steps": steps}


@asynccontextmanager
async def insight_beside(state_folder: Path, recordings: Recordings) -> AsyncIterator[Insight]:
    """Look into the state folder beside whatever may be running there. Raises `StateUnreadable`."""
    async with viewed(state_folder) as view:
        yield Insight(Journal(view), Mailbox(view), recordings)
