"""The mailbox without a disk, in plain Python, which tests compare the one in the database with."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, get_args

from msgspec.structs import replace

from agent.errors import TooManyEvents
from agent.event import Event, from_json, require_event, to_json, utc_now
from agent.mailbox.children import MOST_CHILDREN, MOST_OPEN, Child
from agent.mailbox.economy import SELF
from agent.mailbox.mail import (
    CHILDREN,
    LEAST_PAUSE,
    MAX_ATTEMPTS,
    PERSON,
    Lease,
    MailboxRecord,
    State,
    Wake,
    back_at,
    speaker_in,
)
from agent.mailbox.mailbox import ArrivalObserver, ChangeObserver
from agent.mailbox.table import superseded
from agent.time.clock_steps import Wait, waiting_by
from agent.time.series import successor
from memory.json_value import Json
from memory.state.words import storable

_WAITING: Final = frozenset({"pending", "suspended"})


@dataclass(slots=True)
class _Letter:
    """One event and where it stands; `filed` is replaced at each step."""

    filed: MailboxRecord
    arrival: int
    idle: bool

    @property
    def is_waiting(self) -> bool:
        return self.filed.state in _WAITING

    def is_due(self, now: datetime) -> bool:
        due = self.filed.due_at
        return self.is_waiting and (not self.filed.waits_for if due is None else due <= now)

    def rank(self) -> tuple[bool, int, bool, int]:
        priority = self.filed.event.priority
        after_who_speaks = min(priority, 0) if self.filed.progress.grants else priority
        return self.idle, -after_who_speaks, not self.filed.progress.redelivered, self.arrival

    def change(self, **fields: Any) -> None:  # Any: the fields of `MailboxRecord`
        self.filed = replace(self.filed, **fields)


class InMemoryMailbox:
    """Keeps what `agent.mailbox.Mailbox` promises, but for what needs a disk: its events end with it.

    Whatever has the same methods can stand in its place, such as one on a server (tests/agent/mailboxes.py, KINDS).
    """

    def __init__(self, now: Callable[[], datetime] = utc_now, wait: Wait | None = None) -> None:
        self._now = now
        self._wait = wait or waiting_by(now)
        self._letters: dict[str, _Letter] = {}
        self._arrival_observers: list[ArrivalObserver] = []
        self._change_observers: list[tuple[ChangeObserver, str]] = []
        self._changed = asyncio.Event()
        self._idle = asyncio.Event()

    def observe_arrivals(self, observer: ArrivalObserver) -> None:
        """See `Mailbox.observe_arrivals`."""
        self._arrival_observers.append(observer)

    def observe_changes(self, observer: ChangeObserver, *, of: str = "") -> None:
        """See `Mailbox.observe_changes`."""
        self._change_observers.append((observer, of))

    def waiting_by(self, wait: Wait) -> "InMemoryMailbox":
        """Return another handle to the same events, whose `take` waits like this."""
        other = InMemoryMailbox(self._now, wait)
        other._letters = self._letters
        return other

    async def enqueue(self, event: Event) -> bool:
        """See `Mailbox.enqueue`."""
        require_event(event)
        kept = from_json(to_json(event))  # refuses what no disk would hold either
        with self._changing(event.type):
            self._check_quota(kept)
            added = self._put(kept)
        if added:
            for arrived in self._arrival_observers:
                arrived(event)
        return added

    async def take(self) -> Lease:
        """See `Mailbox.take`."""
        while True:
            self._changed.clear()
            if taken := self._claim():
                return taken
            self._idle.set()
            await self._wait(self._changed, await self._due_next())
            self._idle.clear()

    async def until_idle(self) -> None:
        """See `Mailbox.until_idle`."""
        await self._idle.wait()

    async def in_hand(self) -> Lease | None:
        """See `Mailbox.in_hand`."""
        held = self._held()
        return held.filed.progress if held else None

    async def charge(self, event_id: str, *, tool_calls: int = 0, model_calls: int = 0) -> bool:
        """See `Mailbox.charge`."""
        if (held := self._held(event_id)) is None:
            return False
        was = held.filed.progress
        tools, models = was.tool_calls + tool_calls, was.model_calls + model_calls
        held.change(progress=replace(was, tool_calls=tools, model_calls=models))
        return True

    async def complete(self, event_id: str, summary: str, figures: Mapping[str, Json]) -> bool:
        """See `Mailbox.complete`."""
        return self._close(event_id, "completed", summary=storable(summary), figures=dict(figures))

    async def fail(self, event_id: str, reason: str) -> bool:
        """See `Mailbox.fail`."""
        return self._close(event_id, "dead", reason=storable(reason))

    async def supersede(self, event_id: str, by: str) -> bool:
        """See `Mailbox.supersede`."""
        return self._close(event_id, "withdrawn", reason=superseded(by))

    async def withdraw(self, event_id: str, reason: str) -> bool:
        """See `Mailbox.withdraw`."""
        letter = self._letters.get(event_id)
        if letter is None or not letter.is_waiting:
            return False
        with self._changing():
            letter.change(state="withdrawn", reason=reason, closed_at=self._utc())
            self._wake_parent(letter.filed.event.parent_id)
        return True

    async def retry(self, event_id: str) -> bool:
        """See `Mailbox.retry`."""
        letter = self._letters.get(event_id)
        if letter is None or letter.filed.state != "dead":
            return False
        with self._changing():
            before = letter.filed.progress
            fresh = replace(before, attempt=1, tool_calls=0, model_calls=0, grants=0, redelivered=False)
            letter.change(state="pending", progress=fresh, reason="", closed_at=None, due_at=None)
        return True

    async def suspend(self, event_id: str, note: str, wake: Wake, *, fresh_grant: bool = False) -> bool:
        """See `Mailbox.suspend`."""
        if (held := self._held(event_id)) is None:
            return False
        with self._changing():
            before = held.filed.progress
            granted = replace(before, grants=before.grants + 1, tool_calls=0, model_calls=0) if fresh_grant else before
            progress = replace(granted, note=note, redelivered=False)
            held.idle = wake.kind == "idle" or held.filed.event.priority < 0
            due = back_at(wake, self._now())
            held.change(state="suspended", progress=progress, due_at=due, waits_for=wake.name)
            if wake.name == CHILDREN and not self._open_children(event_id):
                held.change(due_at=self._now() + LEAST_PAUSE, waits_for="")
        return True

    async def erase(self, event_id: str) -> bool:
        """See `Mailbox.erase`."""
        if (letter := self._letters.get(event_id)) is None:
            return False
        bare = replace(letter.filed.event, content="", result="", error="", metadata={})
        with self._changing():
            letter.change(event=bare, progress=replace(letter.filed.progress, event=bare, note=""), summary="")
        return True

    async def wake(self, name: str) -> int:
        """See `Mailbox.wake`."""
        with self._changing():
            return self._release(name)

    async def recover(self) -> list[Lease]:
        """See `Mailbox.recover`."""
        if (held := self._held()) is None:
            return []
        with self._changing():
            progress = replace(held.filed.progress, attempt=held.filed.progress.attempt + 1)
            held.change(progress=progress)
            if progress.is_given_up:
                reason = f"the process died {MAX_ATTEMPTS} times while this event was in hand"
                held.change(state="dead", reason=reason, closed_at=self._utc())
                self._wake_parent(held.filed.event.parent_id)
            else:
                held.change(state="pending", progress=replace(progress, redelivered=True))
        return [progress]

    async def give_back(self) -> bool:
        """See `Mailbox.give_back`."""
        if (held := self._held()) is None:
            return False
        with self._changing():
            held.change(state="suspended", progress=replace(held.filed.progress, redelivered=True))
        return True

    async def find(self, event_id: str) -> MailboxRecord | None:
        """See `Mailbox.find`."""
        letter = self._letters.get(event_id)
        return letter.filed if letter else None

    async def listed(self, state: State, limit: int = 20, owner_key: str | None = None) -> list[MailboxRecord]:
        """See `Mailbox.listed`."""
        return [filed for filed in self._of(owner_key) if filed.state == state][::-1][:limit]

    async def waiting(self, event_type: str, owner_key: str | None) -> list[Event]:
        """See `Mailbox.waiting`."""
        first = datetime.min.replace(tzinfo=UTC)
        found = [each for each in self._letters.values() if each.is_waiting and each.filed.event.type == event_type]
        found.sort(key=lambda letter: (letter.filed.due_at or first, letter.arrival))
        return [each.filed.event for each in found if owner_key in (None, each.filed.event.owner_key)]

    async def _due_next(self) -> datetime | None:
        """Return the earliest moment that a waiting event is bound to."""
        moments = (letter.filed.due_at for letter in self._letters.values() if letter.is_waiting)
        return min((moment for moment in moments if moment), default=None)

    async def counts(self, owner_key: str | None = None) -> dict[str, int]:
        """See `Mailbox.counts`."""
        return dict.fromkeys(get_args(State), 0) | Counter(filed.state for filed in self._of(owner_key))

    async def children(self, event_id: str) -> list[Child]:
        """See `Mailbox.children`."""
        filed = [letter.filed for letter in self._children(event_id)]
        return [Child(each.event.content, each.state, each.summary or each.reason) for each in filed]

    def _of(self, owner_key: str | None) -> list[MailboxRecord]:
        return [each.filed for each in self._letters.values() if owner_key in {None, each.filed.event.owner_key}]

    def _put(self, event: Event) -> bool:
        if event.id in self._letters:
            return False
        filed = MailboxRecord(event, "pending", Lease(event), due_at=event.not_before)
        self._letters[event.id] = _Letter(filed, len(self._letters) + 1, idle=event.priority < 0)
        before = self._letters.get(str(event.metadata.get("continues")))
        is_theirs = before and before.filed.event.owner_key == event.owner_key
        if before and is_theirs and before.filed.state == "pending" and not before.filed.progress.redelivered:
            before.change(state="withdrawn", reason=superseded(event.id), closed_at=self._utc())
        return True

    def _claim(self) -> Lease | None:
        if held := self._held():
            return held.filed.progress
        now = self._now()
        due = [letter for letter in self._letters.values() if letter.is_due(now)]
        if not due:
            return None
        taken = min(due, key=_Letter.rank)
        is_new = taken.filed.state == "pending"
        taken.change(state="in_hand", due_at=None, waits_for="")
        event = taken.filed.event
        if is_new:
            self._release(event.type, event.owner_key)
            if event.is_from_person:
                self._release(PERSON, event.owner_key)
                self._release(speaker_in(event), event.owner_key)
        if again := successor(event, now):
            self._put(again)
        return taken.filed.progress

    def _held(self, event_id: str = "") -> _Letter | None:
        held = next((letter for letter in self._letters.values() if letter.filed.state == "in_hand"), None)
        return held if held and event_id in {"", held.filed.event.id} else None

    def _close(self, event_id: str, state: State, **fields: Any) -> bool:  # Any: the fields of `MailboxRecord`
        if (held := self._held(event_id)) is None:
            return False
        with self._changing():
            held.change(state=state, closed_at=self._utc(), **fields)
            if state != "withdrawn":
                self._wake_parent(held.filed.event.parent_id)
        return True

    def _release(self, name: str, owner_key: str | None = None) -> int:
        found = [each for each in self._letters.values() if each.filed.state == "suspended"]
        found = [one for one in found if one.filed.waits_for == name and owner_key in {None, one.filed.event.owner_key}]
        for letter in found:
            letter.change(due_at=None, waits_for="")
        return len(found)

    def _wake_parent(self, parent_id: str) -> None:
        parent = self._letters.get(parent_id)
        if parent and not self._open_children(parent_id) and parent.filed.waits_for == CHILDREN:
            parent.change(due_at=None, waits_for="")

    def _children(self, event_id: str) -> list[_Letter]:
        found = [letter for letter in self._letters.values() if letter.filed.event.source == SELF]
        return [letter for letter in found if letter.filed.event.parent_id == event_id]

    def _open_children(self, event_id: str) -> bool:
        return any(child.is_waiting or child.filed.state == "in_hand" for child in self._children(event_id))

    def _check_quota(self, event: Event) -> None:
        if event.source != SELF or not event.parent_id:
            return
        if len(self._children(event.parent_id)) >= MOST_CHILDREN:
            raise TooManyEvents(f"{MOST_CHILDREN} events were made for this event, and no more may be")
        own = [each for each in self._letters.values() if each.filed.event.source == SELF and each.is_waiting]
        own = [each for each in own if each.filed.event.owner_key == event.owner_key]
        if len(own) >= MOST_OPEN:
            raise TooManyEvents(f"{MOST_OPEN} events of your own are open: finish some before you make more")

    def _utc(self) -> datetime:
        return self._now().astimezone(UTC)

    @contextmanager
    def _changing(self, event_type: str = "") -> Iterator[None]:
        self._idle.clear()
        try:
            yield
        finally:
            self._changed.set()
            for changed, of in self._change_observers:
                if not of or event_type in {"", of}:
                    changed()
