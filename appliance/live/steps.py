"""Steps as facts for people: what was published, or stands in the journal; and the run in hand so far."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Final, Self

from msgspec import Struct
from msgspec.structs import replace

from agent.event import HOUSEHOLD, PERSON_TYPES, Event
from agent.record import COMMAND
from agent.replies import INTERRUPTED, SENTENCE_STARTED
from agent.tools.events import ENDINGS
from agent.tools.reply import REPLY
from agent.tools.tool import bounded
from agent.turns.stages import TURN_ENDED
from appliance.input.suppressed import EARS_SUPPRESSED
from appliance.output.text import WRITTEN
from appliance.reflexes.forget import FORGOTTEN
from appliance.reflexes.record import REFLEX
from appliance.timers.due import ENDED, RANG, STOPPED
from memory.json_value import Json, parse_json
from memory.state.journal import WORDS, Stored
from memory.state.tiers import TASK

MOST_TEXT: Final = 64_000
"""Characters of the replies of one run that are kept, the end of them, and of any other text of a fact."""

MOST_WORDS: Final = 1_000_000
"""Characters of a question, and of a reply as it was written in the end: a model's answer has half as many at most."""

MOST_CALLS: Final = 100
"""Calls of one run that are kept, the newest."""

MOST_ARGUMENTS: Final = 4_000
"""Characters of a call's arguments that are shown."""

BROKE_OFF: Final = "it broke off, and is tried again"
"""Why a run failed that has no end of its own: the process died, or the state could not be written."""

DURABLE: Final = (
    *(TASK, TURN_ENDED, "ui.events", WRITTEN, SENTENCE_STARTED, INTERRUPTED),
    *(EARS_SUPPRESSED, REFLEX, FORGOTTEN, RANG, STOPPED, COMMAND),
)
"""Topics of the journal that make facts."""

_TIMERS: Final = {RANG: "rings", STOPPED: "ended", ENDED: "ended"}

_OF_RUN: Final = frozenset({"text_chunk", "reply_written", "sentence", "interrupted"})

_SENSES: Final = frozenset({"hearing", "speaking"})


class Step(Struct, frozen=True):
    """An envelope of the bus, or an entry of the journal."""

    topic: str
    body: Mapping[str, Json]
    words: str
    event_id: str
    session: str
    owner_key: str
    at: datetime
    seq: int | None

    @classmethod
    def published(cls, event: Event, seq: int | None) -> Self:
        """Return an envelope, or an event that was filed; `seq` is its place in the journal, None for what passes."""
        cause = event.id if event.type in PERSON_TYPES else event.parent_id or event.id
        place = (event.session_id, event.owner_key, event.created_at, seq)
        return cls(event.type, event.metadata, event.content, cause, *place)

    @classmethod
    def stored(cls, entry: Stored) -> Self:
        """Return an entry of the journal."""
        words, body = entry.body.get(WORDS, ""), {**entry.body, "run_id": entry.run_id}
        place = (entry.session_id, entry.owner_key, entry.at, entry.seq)
        return cls(entry.topic, body, words if isinstance(words, str) else "", entry.event_id, *place)

    @property
    def run_id(self) -> str:
        """Whose step it is; "" for none."""
        return self.text("run_id")

    @property
    def name(self) -> str:
        """What it says it is, where its topic does not."""
        return self.text("event")

    def text(self, key: str) -> str:
        """Return a text of its body, bounded; "" where there is none."""
        value = self.body.get(key)
        return bounded(value, MOST_TEXT) if isinstance(value, str) else ""


class Fact(Struct, frozen=True):
    """A message before it is one: plain, so that nothing heavy is needed while nobody looks."""

    name: str
    """The message's, as `appliance.live.messages` has it."""
    payload: Mapping[str, Json]
    owner_key: str
    at: datetime
    run_id: str | None = None
    seq: int | None = None


class RunSoFar(Struct):
    """A run in hand, bounded."""

    run_id: str
    owner_key: str
    started: Mapping[str, Json]
    """The payload of its `run_started`."""
    started_at: datetime
    text: str = ""
    call_id: str | None = None
    written: set[str] = set()
    """Ids of the replies that `text` has."""
    calls: dict[str, dict[str, Json]] = {}
    """By id, in the order in which they began."""
    is_cut_off: bool = False
    """Whether a person stopped it."""
    is_told_how_far: bool = False
    """Whether it was told how far it was heard."""

    def write(self, call_id: str, chunk: str) -> None:
        """Take words of a reply."""
        between = "\n" if self.text and call_id != self.call_id and not self.text.endswith("\n") else ""
        self.text, self.call_id = f"{self.text}{between}{chunk}"[-MOST_TEXT:], call_id
        self.written.add(call_id)

    def begin(self, call: Mapping[str, Json]) -> None:
        """Take a call."""
        self.calls[str(call["call_id"])] = dict(call)
        if len(self.calls) > MOST_CALLS:
            del self.calls[next(iter(self.calls))]

    def end(self, call: Mapping[str, Json]) -> None:
        """Take the end of a call."""
        known = self.calls.get(str(call["call_id"]))
        if known is not None:
            known.update({name: call[name] for name in ("status", "result", "seconds")})

    def forget(self) -> None:
        """Keep no words of it."""
        self.text, self.calls = "", {}
        self.started = {**self.started, "content": ""}

    @property
    def tool(self) -> str | None:
        """The tool that is at work; what only speaks or ends the event is none."""
        under_way = (str(call["tool_name"]) for call in self.calls.values() if "status" not in call)
        return next((name for name in under_way if name != REPLY and name not in ENDINGS), None)

    def described(self) -> dict[str, Json]:
        """Return it as the snapshot has it."""
        return {
            "run_id": self.run_id,
            **self.started,
            "started_at": self.started_at.isoformat(),
            "text": self.text,
            "call_id": self.call_id,
            "tool_calls": [dict(call) for call in self.calls.values()],
        }


class Steps(Struct):
    """Makes facts of steps, in their order. Each run that starts finishes once, whatever became of it.

    Of steps that are read again from the journal another one makes them: it keeps where it is.
    """

    run: RunSoFar | None = None
    """The one in hand."""
    senses: set[str] = set()
    """What the room is in: `hearing`, `speaking`."""

    def take(self, step: Step) -> Iterator[Fact]:
        """Yield what a step tells, with the run that it is of: the mouth knows only whose words it says."""
        for fact in self._told(step):
            run = self.run
            is_of_run = run is not None and fact.name in _OF_RUN and run.started["event_id"] == step.event_id
            yield replace(fact, run_id=run.run_id) if run is not None and is_of_run and not fact.run_id else fact

    def _told(self, step: Step) -> Iterator[Fact]:
        if step.topic == TASK:
            yield from self._started(step)
        elif step.topic in {"ui.events", "llm.results", TURN_ENDED}:
            yield from self._shown(step)
        elif step.topic in _TIMERS:
            told: dict[str, Json] = {"label": step.text("label"), "due": step.text("due") or None}
            yield _fact(step, "timer", {"id": step.event_id, **told, "state": _TIMERS[step.topic]})
        elif step.topic in {SENTENCE_STARTED, WRITTEN}:
            yield from self._answered(step)
        elif step.topic in {COMMAND, INTERRUPTED}:
            yield from self._cut_off(step)
        elif step.topic in PERSON_TYPES:
            taken: dict[str, Json] = {"text": bounded(step.words, MOST_WORDS), "session": step.session}
            yield _fact(step, "heard", {**taken, "event_id": step.event_id})
        elif step.topic == EARS_SUPPRESSED:
            yield _heard(step, step.text("text_spoken"), step.text("reason"))
        elif step.topic == REFLEX and step.words:
            yield _heard(step, step.words, f"{REFLEX}: {step.text('did')}")
        elif step.topic == FORGOTTEN:
            erased = {"event_ids": step.body.get("event_ids", []), "since": step.body.get("since")}
            yield _fact(step, "forgotten", erased)

    def _answered(self, step: Step) -> Iterator[Fact]:
        """Yield a sentence that sounds, or a reply as it was written in the end: the journal has no chunks of it."""
        call_id = step.text("call_id")
        if step.topic == SENTENCE_STARTED:
            about: dict[str, Json] = {"event_id": step.event_id or None, "call_id": call_id}
            yield _fact(step, "sentence", {**about, "text": step.words})
            return
        run, text = self._of_event(step), bounded(step.words, MOST_WORDS)
        if run is not None and call_id not in run.written:
            run.write(call_id, text)
        yield _fact(step, "reply_written", {"event_id": step.event_id, "call_id": call_id, "text": text})

    def _of_event(self, step: Step) -> RunSoFar | None:
        """Return the run in hand where a step is of its event."""
        return self.run if self.run is not None and self.run.started["event_id"] == step.event_id else None

    def _cut_off(self, step: Step) -> Iterator[Fact]:
        """Yield how far a reply was heard; that a person stopped it is told at its end, where nothing else says so."""
        run = self._of_event(step)
        if step.topic == INTERRUPTED:
            how_far: dict[str, Json] = {"heard": step.text("heard"), "unsaid": step.text("unsaid")}
            yield _fact(step, "interrupted", {"event_id": step.event_id, **how_far})
        if run is not None:
            run.is_told_how_far |= step.topic == INTERRUPTED
            run.is_cut_off |= step.topic == COMMAND and step.text("reason") == "interrupted"

    def over(self, in_hand: str | None, at: datetime) -> Iterator[Fact]:
        """Yield the end of the run in hand, unless it is this one: nobody will tell of it any more."""
        if self.run is not None and self.run.run_id != in_hand:
            yield self._finished(self.run, at, {"status": "FAILED", "error": BROKE_OFF})

    def _started(self, step: Step) -> Iterator[Fact]:
        yield from self.over(step.run_id, step.at)
        started: dict[str, Json] = {
            "event_id": step.event_id,
            "session": step.session,
            "source": step.text("source"),
            "content": bounded(step.words, MOST_WORDS) or step.text("content"),
            "parent_id": step.text("parent_id") or None,
        }
        self.run = RunSoFar(step.run_id, step.owner_key, started, step.at)
        yield _fact(step, "run_started", started)

    def _shown(self, step: Step) -> Iterator[Fact]:
        name, run = step.name, self.run
        is_in_hand = run is not None and run.run_id == step.run_id
        if name == "text_chunk":
            call_id, chunk = step.text("call_id"), step.text("chunk")
            if run is not None and is_in_hand:
                run.write(call_id, chunk)
            yield _fact(step, name, {"event_id": step.event_id, "call_id": call_id, "chunk": chunk})
        elif name == "tool_call_started":
            call: dict[str, Json] = {"call_id": step.text("call_id"), "tool_name": step.text("tool_name")}
            call["args"] = _arguments(step.text("args"))
            if run is not None and is_in_hand:
                run.begin(call)
            yield _fact(step, name, call)
        elif name == "tool_call_finished":
            keys = ("call_id", "tool_name", "status", "result", "seconds")
            over = {key: step.body.get(key) for key in keys}
            if run is not None and is_in_hand:
                run.end(over)
            yield _fact(step, name, over)
        elif name in {"run_finished", "run_broken_off"}:
            yield from self._ended(step)
        elif step.topic == TURN_ENDED:
            told = {key: value for key, value in step.body.items() if key != "run_id"}
            yield _fact(step, "turn", {"event_id": step.event_id, **told})
        elif step.owner_key == HOUSEHOLD:
            yield from self._sensed(step)

    def _sensed(self, step: Step) -> Iterator[Fact]:
        """Take what ears and mouth are at; only the words of somebody who speaks are a fact by themselves."""
        if step.name == "words_so_far":
            yield _fact(step, step.name, {"text": bounded(step.words, MOST_TEXT), "language": step.text("language")})
        elif step.name in _SENSES:
            (self.senses.add if step.body.get("is_on") else self.senses.discard)(step.name)

    def _ended(self, step: Step) -> Iterator[Fact]:
        """Yield the end of the run in hand; what was put off before it began never started."""
        run = self.run if self.run is not None and self.run.run_id == step.run_id else None
        if run is None:
            return
        error = step.text("error") or None
        ended: dict[str, Json] = {"status": step.text("status") or "FAILED", "error": error}
        if step.name == "run_broken_off":
            ended = {"status": "FAILED", "error": BROKE_OFF}
        if run.is_cut_off and not run.is_told_how_far:
            # In writing: all of it was read, and no account of hearing comes.
            read: dict[str, Json] = {"heard": run.text.strip(), "unsaid": ""}
            yield Fact("interrupted", {"event_id": run.started["event_id"], **read}, run.owner_key, step.at, run.run_id)
        yield replace(self._finished(run, step.at, ended), seq=step.seq)

    def _finished(self, run: RunSoFar, at: datetime, how: Mapping[str, Json]) -> Fact:
        self.run = None
        payload: dict[str, Json] = {"event_id": run.started["event_id"], **how}
        return Fact("run_finished", payload, run.owner_key, at, run.run_id)


def _fact(step: Step, name: str, payload: Mapping[str, Json]) -> Fact:
    return Fact(name, payload, step.owner_key, step.at, step.run_id or None, step.seq)


def _heard(step: Step, text: str, held_back: str) -> Fact:
    return _fact(step, "heard", {"text": text, "session": step.session, "held_back": held_back})


def _arguments(text: str) -> Json:
    """Return the arguments of a call as what they are; as the text where they are no JSON, or too long to be shown."""
    if len(text) > MOST_ARGUMENTS:
        return bounded(text, MOST_ARGUMENTS)
    try:
        return parse_json(text or "{}")
    except ValueError:
        return text
