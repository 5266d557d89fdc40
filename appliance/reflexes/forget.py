"""Forgetting what was just heard: sound, words, context, and what was written because of them; digests stay."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final, Protocol

import structlog
from msgspec import Struct

from agent.attachments.attachment import Document, attachments_from
from agent.bus import Observer
from agent.confirmation.confirmations import ASKED
from agent.context.block import RESULT
from agent.context.epochs import EPOCH, MESSAGE, Contexts
from agent.context.recollection import RECALLED, RECENT
from agent.context.remembered import REMEMBERED
from agent.event import GROWTH, HOUSEHOLD, PERSON_TYPES, SELF_CREATED, SYSTEM, Event, utc_now
from appliance.api.caller import ROOM
from appliance.input.suppressed import EARS_SUPPRESSED
from appliance.output.text import REMOTE, TEXT_SOURCES
from appliance.reflexes.words import Forgot, beginnings
from appliance.rooms.rooms import SATELLITE
from appliance.wiring.memory.state import State
from memory.errors import MemoryFailure, StateUnusable
from memory.json_value import Json
from memory.recall import Recall
from memory.recall.recall import holding
from memory.state.journal import ERASED, Stored

log = structlog.get_logger()

FORGOTTEN: Final = "forgotten"
"""Type of the envelope that says what was erased, by ids, and how much; it holds no words."""

RUN_ENDS_WITHIN: Final = 5.0
"""Seconds that an interrupted run may take to put its event away; then what is there so far is erased."""

TELLS_WITHIN: Final = 30.0
"""Seconds that a run may go on that was told to forget something, as to say so; then it is interrupted."""

LONGEST_SOUGHT: Final = 60
LEAST_SOUGHT: Final = 10
"""Characters of its words by which something is found again where it is cited without its id; half in Chinese."""

MOST_SOUGHT: Final = 200
"""Texts that one look through the journal is for."""

_UNESCAPED: Final = re.compile(r'[^"\\\x00-\x1f]+')
"""What JSON writes as it is."""

MOST_EVENTS: Final = 1000
"""Turns that one order may erase."""


async def no_graph(event_id: str) -> int:
    """Erase nothing: there is no graph. For `Forgetting.erase_event`."""
    return 0


def no_mind(event_id: str) -> bool:
    """End no run: there is no mind. For `Forgetting.interrupt`."""
    return False


def no_hold() -> Callable[[], None]:
    """Hold nothing up. For `Forgetting.hold`."""
    return lambda: None


class HoldsWords(Protocol):
    """A place in memory where sound or words are kept for a while."""

    def forget(self) -> object:
        """Empty it; on the event loop, and at once."""


class Forgetting(Struct):
    """Erases turns of the household, with all that came of them, as far as this machine knows."""

    state: State
    contexts: Contexts | None
    """None where there is no mind."""
    interrupt: Callable[[str], bool]
    """`Loop.interrupt`: ends the run of this event, if it is the one in hand."""
    erase_event: Callable[[str], Awaitable[int]]
    """Removes from the graph what was written because of an event; returns how many statements."""
    recall: Recall | None
    """None where nothing is found by its words."""
    sound: Sequence[HoldsWords] = ()
    """Places on disk where sound is kept outside the database; may block."""
    now: Callable[[], datetime] = utc_now
    hold: Callable[[], Callable[[], None]] = no_hold
    """`Attention.hold`: what is asked next is answered when what the agent said it forgets is gone."""
    _places: list[HoldsWords] = []

    def empties(self, *places: HoldsWords) -> None:
        """Have more places in memory emptied with each forgetting; for good."""
        self._places += places

    async def last(self, count: int = 1, *, typed: bool = False, session: str = "") -> Forgot:
        """Forget the newest turns; return how that went.

        Those of the room, or with `typed` what was written to it too, in whatever session; or those of one session.
        """
        told = await self._told(typed=typed or bool(session))
        return await self._forget([event for event in told if session in {"", event.session_id}][-count:])

    async def asked(self, event: Event, about: str = "", minutes: float | None = None) -> list[Event]:
        """Return what a wish to forget means: the turn before its event, or all with these words, or of these minutes.

        With it go the event itself and the one in which a person was asked about it: they repeat the words. Empty
        where there is nothing but those. Raises `StateUnusable`, as `would_go`.
        """
        if not about and minutes is None:
            told = [each for each in await self._told(typed=True) if each.session_id == event.session_id]
            meant = [each for each in told if each.id != event.id and each.created_at <= event.created_at][-1:]
            return [*meant, event] if meant else []
        meant = await self.would_go(minutes=minutes, about=about)
        newest = await self.state.journal.entries(
            topic=ASKED, session_id=event.session_id, owner_key=HOUSEHOLD, newest=True, limit=1
        )
        wish = await self._named([entry.event_id for entry in newest if about in str(entry.body.get("arguments"))])
        found = {each.id: each for each in (*meant, *wish, event)}
        return [*found.values()] if await self.news(meant) else []

    async def news(self, events: Sequence[Event]) -> list[Event]:
        """Return those that tell something: not one in hand, nor one that a person was asked about, as to forget."""
        in_hand = {each.event.id for each in await self.state.mailbox.listed("in_hand", MOST_EVENTS, HOUSEHOLD)}
        asked = self.state.journal.entries
        return [
            each
            for each in events
            if each.id not in in_hand and not await asked(topic=ASKED, event_id=each.id, limit=1)
        ]

    def after(self, event: Event, events: Collection[str]) -> Callable[[], Awaitable[Forgot]]:
        """Return what forgets these when the run of an event, still in hand, is over; a long one is ended."""
        steps, release = self.state.bus.observe("ui.events"), self.hold()

        async def forget() -> Forgot:
            try:
                await self._run_over(steps, {event.id}, TELLS_WITHIN)
                return await self.these(events)
            finally:
                release()

        return forget

    async def since(self, minutes: float) -> Forgot:
        """Forget what it was told within the last so many minutes, typed things too."""
        start = self.now() - timedelta(minutes=minutes)
        return await self._forget(await self.would_go(minutes=minutes), start)

    async def these(self, event_ids: Collection[str], minutes: float | None = None) -> Forgot:
        """Forget these turns, spoken or typed, as `would_go` named them, and what was held back in those minutes."""
        start = None if minutes is None else self.now() - timedelta(minutes=minutes)
        return await self._forget(await self._named(event_ids), start)

    async def would_go(self, count: int = 1, minutes: float | None = None, about: str = "") -> list[Event]:
        """Return what `last`, or with minutes `since`, would forget now, typed things too; the oldest first.

        With words, those things in which all of them were said, or stand in a document that was attached, also where it
        only said them itself, however long ago.
        Raises `StateUnusable`; with words also on a machine without a mind, where nothing is found by them.
        """
        if about:
            if self.recall is None:
                raise StateUnusable("what was said is found by its words only where the mind is: ask there")
            ids, is_held = await self.recall.all_with(about, HOUSEHOLD), holding(about)
            for event in await self.state.mailbox.with_attachments(HOUSEHOLD):
                if any(isinstance(each, Document) and is_held(each.text) for each in attachments_from(event.metadata)):
                    ids.add(event.id)
            return await self._named(ids)
        told = await self._told(typed=True)
        if minutes is None:
            return told[-count:]
        start = self.now() - timedelta(minutes=minutes)
        return [event for event in told if event.created_at >= start]

    async def _told(self, *, typed: bool) -> list[Event]:
        """Return the household's spoken events, and typed ones, that still have their words, oldest first."""
        mailbox, sources = self.state.mailbox, {"mic", SATELLITE, REMOTE, *(TEXT_SOURCES if typed else ())}
        runs = await self.state.journal.entries(topic="runs.new", owner_key=HOUSEHOLD, newest=True, limit=MOST_EVENTS)
        names = dict.fromkeys(run.event_id for run in runs if run.body.get("source") in sources)
        filed = [found.event for name in names if (found := await mailbox.find(name))]
        waiting = [event for kind in PERSON_TYPES for event in await mailbox.waiting(kind, HOUSEHOLD)]
        told = {event.id: event for event in (*filed, *waiting) if event.content and event.source in sources}
        return sorted(told.values(), key=lambda event: event.created_at)

    async def _named(self, event_ids: Collection[str]) -> list[Event]:
        """Return the household's events of these ids that are a person's and still have their words, oldest first."""
        filed = [found.event for name in event_ids if (found := await self.state.mailbox.find(name))]
        told = [event for event in filed if event.content and event.is_from_person and event.owner_key == HOUSEHOLD]
        return sorted(told, key=lambda event: event.created_at)

    async def drop(self) -> None:
        """Drop what is kept outside the database, in memory and on disk."""
        self._drop()
        for place in self.sound:
            await asyncio.to_thread(place.forget)

    async def _forget(self, events: list[Event], start: datetime | None = None) -> Forgot:
        await self.drop()
        if not events:
            return Forgot("nothing to forget")
        words = beginnings([event.content for event in events])
        try:
            await self.stop(events)
            self._drop()  # what a reply that was under way has said since
            events = await self._with_predecessors(events)
            tasks = await self._tasks(events)
            tasks += await self._looks([*events, *tasks])
            entries = await self._entries([*events, *tasks], start or events[0].created_at)
            try:
                await self._erase([*events, *tasks], entries)
            except MemoryFailure:  # as when another program reads the journal's file: the graph forgets all the same
                await self._erase_from_graph([*events, *tasks])
                raise
            written = await self._erase_from_graph([*events, *tasks])
            counts: dict[str, Json] = {"events": len(events), "entries": len(entries), "graph_statements": written}
            await self._journal([*events, *tasks], start, counts)
        except MemoryFailure as error:
            log.warning("not_forgotten", reason=str(error))
            return Forgot("not forgotten")
        return Forgot("forgotten", words, self.drop)

    def _drop(self) -> None:
        for place in self._places:
            place.forget()
        self.state.bus.recent.clear()

    async def stop(self, events: list[Event]) -> None:
        """End what the mind still does with them, or would; what it held of them is in the journal then."""
        mailbox = self.state.mailbox
        for event in events:
            await mailbox.withdraw(event.id, "forgotten")
        steps = self.state.bus.observe("ui.events")
        if any(self.interrupt(event.id) for event in events):
            await self._run_over(steps, {event.id for event in events}, RUN_ENDS_WITHIN)
        else:
            self.state.bus.forget(steps)
        await self.state.bus.publish()

    async def _run_over(self, steps: Observer, events: Collection[str], seconds: float) -> None:
        """Let the observer go once a run of one of these events is over, or after so many seconds."""
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    async for each in steps:
                        if each.parent_id in events and each.metadata.get("event") == "run_finished":
                            return
        finally:
            self.state.bus.forget(steps)

    async def _with_predecessors(self, events: list[Event]) -> list[Event]:
        """Return the events with those whose words they go on with: one sentence, said with a pause."""
        found = {event.id: event for event in events}
        for event in events:
            before = str(event.metadata.get("continues", ""))
            while before and before not in found and (filed := await self.state.mailbox.find(before)):
                found[before] = filed.event
                before = str(filed.event.metadata.get("continues", ""))
        return list(found.values())

    async def _tasks(self, events: list[Event]) -> list[Event]:
        """Return what the agent left itself to do because of the events, and timers, stopped: they repeat the words."""
        mailbox = self.state.mailbox
        left = [child for event in events for child in await mailbox.children(event.id)]
        filed = [found.event for child in left if (found := await mailbox.find(child.id))]
        tasks = [event for event in filed if event.type == SELF_CREATED and event.content]
        known = {event.id for event in events}
        tasks += [timer for timer in await mailbox.timers_of(known) if timer.content and timer.id not in known]
        if tasks:
            await self.stop(tasks)
            tasks += await self._tasks(tasks)
        return tasks

    async def _looks(self, events: list[Event]) -> list[Event]:
        """Return the agent's looks back and nights that were shown the events, stopped: what they wrote repeats them.

        What they wrote because of others goes with it; the words of those stay.
        """
        journal, mailbox = self.state.journal, self.state.mailbox
        in_hand = [found.event for found in await mailbox.listed("in_hand", MOST_EVENTS, HOUSEHOLD)]
        await self.stop([event for event in in_hand if event.type in GROWTH])  # the journal has what it was shown then
        own = [entry.seq for event in events for entry in await journal.entries(event_id=event.id, limit=1)]
        since = await journal.entries(topic=MESSAGE, owner_key=HOUSEHOLD, after=min(own, default=0))
        known = {event.id for event in events}
        shown = [each for each in since if any(event.id in str(each.body) for event in events)]
        names = dict.fromkeys(each.event_id for each in shown if each.event_id not in known)
        filed = [found.event for name in names if (found := await mailbox.find(name))]
        return [event for event in filed if event.type in GROWTH]

    async def _entries(self, events: list[Event], start: datetime) -> list[Stored]:
        """Return every entry of the events' runs, the epochs that took them along, and turns held back meanwhile."""
        journal = self.state.journal
        own = [entry for event in events for entry in await journal.entries(event_id=event.id)]
        if not own:
            return []
        first = min(entry.seq for entry in own)
        # Whatever epoch was opened since may have taken the words along; `leave_out` opens one that has not.
        sessions = {event.session_id for event in events}
        since = await journal.entries(topic=EPOCH, owner_key=HOUSEHOLD, after=first - 1)
        epochs = [epoch for epoch in since if epoch.session_id in sessions]
        # The first block of an epoch tells what was said before it, and what it told goes on in the epoch.
        grown = await journal.entries(topic=MESSAGE, owner_key=HOUSEHOLD, after=first - 1)
        tells = (f"<{RECENT}>", f"<{REMEMBERED}>")
        mine = [each for each in grown if each.session_id in sessions]
        epochs += [each for each in mine if any(part in str(each.body) for part in tells)]
        epochs += await self._citing(events, first)  # in whatever session it came back
        held_back = await journal.entries(topic=EARS_SUPPRESSED, after=first - 1)
        early = await journal.entries(topic=EARS_SUPPRESSED, newest=True, limit=MOST_EVENTS)
        near = [*held_back, *(entry for entry in early if entry.at >= start)]
        return [entry for entry in (*own, *epochs, *near) if ERASED not in entry.body]

    async def _citing(self, events: Collection[Event], first: int) -> list[Stored]:
        """Return what was found again of the events while others were answered: blocks and results that hold them."""
        held = tuple({*(event.id for event in events), *filter(None, (_core(event.content) for event in events))})
        found: list[Stored] = []
        for at in range(0, len(held), MOST_SOUGHT):
            found += await self.state.journal.entries(
                topic=(MESSAGE, RESULT, "ui.events"),
                owner_key=HOUSEHOLD,
                after=first - 1,
                holding=held[at : at + MOST_SOUGHT],
            )
        return [entry for entry in found if entry.topic == RESULT or _is_result(entry) or _is_recalled(entry)]

    async def _erase(self, events: list[Event], entries: list[Stored]) -> None:
        if entries and self.contexts is not None:
            words = {event.content for event in events}
            others = {entry.session_id for entry in entries if entry.topic == MESSAGE}
            told = {name: Event(SYSTEM, owner_key=HOUSEHOLD, session_id=name) for name in others}
            citing = [(entry.session_id, entry.event_id) for entry in entries if _is_result(entry)]
            gone = {*((event.session_id, event.id) for event in events), *citing}
            for last in (told | {event.session_id: event for event in events}).values():
                names = {name for session, name in gone if session == last.session_id}
                await self.contexts.leave_out(last, names, words)
        for event in events:
            await self.state.mailbox.erase(event.id)
        await self.state.images.forget()
        await self.state.journal.erase(*dict.fromkeys(entry.id for entry in entries))

    async def _erase_from_graph(self, events: list[Event]) -> int:
        return sum([await self.erase_event(event.id) for event in events])

    async def _journal(self, events: list[Event], start: datetime | None, counts: Mapping[str, Json]) -> None:
        """Tell the log, the journal and whoever shows them: `since` then, what was held back is erased too."""
        since = min([*([start] if start else []), *(event.created_at for event in events)])
        log.info("forgotten", **counts)
        body: dict[str, Json] = {"event_ids": [event.id for event in events], "since": since.isoformat(), **counts}
        await self.state.bus.publish(Event(type=FORGOTTEN, session_id=ROOM, status="completed", metadata=body))


def mindless(state: State) -> Forgetting:
    """Return what forgets where there is neither mind nor graph: of the journal alone."""
    return Forgetting(state, None, no_mind, no_graph, None)


def _is_recalled(entry: Stored) -> bool:
    """Whether an entry is a block with what came back by itself."""
    return entry.topic == MESSAGE and f"<{RECALLED}>" in str(entry.body)


def _is_result(entry: Stored) -> bool:
    """Whether an entry tells what a tool answered, in a context or to whoever watches."""
    message = entry.body.get("message")
    if entry.topic == MESSAGE:
        return isinstance(message, dict) and message.get("role") == "tool"
    return entry.topic == "ui.events" and entry.body.get("event") == "tool_call_finished"


def _core(words: str) -> str:
    """Return what is found of words wherever they are cited in JSON, "" for words that anybody may say at any time."""
    longest = max(_UNESCAPED.findall(words), key=len, default="")
    least = LEAST_SOUGHT if longest.isascii() else LEAST_SOUGHT // 2
    return longest[:LONGEST_SOUGHT] if len(longest) >= least else ""
