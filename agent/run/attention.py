"""Interrupts a run from outside: somebody stops it, goes on speaking, or comes first."""

import asyncio
from collections import deque
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Final

from agent.confirmation.question import NAMES
from agent.event import Event, predecessor, room_of
from agent.mailbox import Mailbox
from agent.replies import SENTENCE_STARTED
from agent.run.budget import SIGN_AFTER
from agent.run.run import Run
from agent.run.system_replies import FILLER, SystemReplies
from memory.errors import MemoryFailure
from memory.state.journal import Journal

MOST_ARRIVALS: Final = 64
"""Capacity of `arrivals`: an event beyond it interrupts nothing, and is handled in its turn."""

HELD_FOR: Final = 5.0
"""Seconds that an event waits at most for what `Attention.hold` holds it for."""


class Attention:
    """Decides what a person's words mean for the run in hand: nothing, that it ends, or that they go first."""

    def __init__(
        self,
        mailbox: Mailbox,
        journal: Journal,
        system_replies: SystemReplies,
        stop_speaking: Callable[[], object],
        names: Collection[str] = NAMES,
    ) -> None:
        """`stop_speaking` silences speech at once: what was handed to it and is not heard yet must not be heard.

        `names` is what people call it.
        """
        self.names = names
        self._journal = journal
        self._stop_speaking = stop_speaking
        self.system_replies = system_replies
        """What the runtime says itself; the loop says its sentences by the same one, so that a filler is said once."""
        self.run: Run | None = None
        """The run in hand."""
        self.arrivals: asyncio.Queue[Event] = asyncio.Queue(MOST_ARRIVALS)
        """A person's events that arrived while one was in hand, for `watch`."""
        self.early: Event | None = None
        """A person's last event that arrived while none was in hand; perhaps the next one was just being taken."""
        self._standing_back: deque[str] = deque(maxlen=MOST_ARRIVALS)
        """Ids of a person's events that arrived while another was in hand, and were not taken in hand yet."""
        self._elsewhere: list[Callable[[str], bool]] = []
        self._held_by: list[asyncio.Event] = []
        mailbox.observe_arrivals(self._arrived)

    def interrupt_too(self, interrupt: Callable[[str], bool]) -> None:
        """Hand each interruption on to whoever has runs on another machine, and says whether it may be about one."""
        self._elsewhere.append(interrupt)

    def hold(self) -> Callable[[], None]:
        """Keep the next event from its context until what is returned is called, as while words are taken out of it."""
        over = asyncio.Event()
        self._held_by.append(over)
        return over.set

    async def unheld(self) -> None:
        """Return when nothing holds an event any more, after `HELD_FOR` at the latest."""
        with suppress(TimeoutError):
            async with asyncio.timeout(HELD_FOR):
                for over in self._held_by:
                    await over.wait()
        self._held_by.clear()

    def take_up(self, run: Run) -> None:
        """Make a run the one in hand, and look at what arrived while its event was being taken."""
        self.run = run
        if run.event.id in self._standing_back:
            self._standing_back.remove(run.event.id)
        early, self.early = self.early, None
        if early is not None and early.id != run.event.id:
            self._arrived(early)

    def let_go(self) -> None:
        """No run is in hand any more."""
        self.run = None

    def interrupt(self, event_id: str = "") -> bool:
        """End the run in hand now, or only if it is this event's, because somebody wants silence or the floor.

        To be called on the event loop, once an interruption is sure. Speech stops; the model's stream and the tools
        that can be broken off end at once, each call with a result; the others keep their time limit. A person's
        event and a timer's are completed as interrupted, the agent's own work comes back. The session's next block
        says what was heard and what was not. False when there is no such run, here or elsewhere.
        """
        told = [interrupt(event_id) for interrupt in self._elsewhere]
        run = self.run
        if run is None or run.is_over or (event_id and run.event.id != event_id):
            return any(told)
        run.stop.give("interrupted")
        self._stop_speaking()
        return True

    async def watch(self) -> None:
        """Look at what a person says while an event is in hand, until cancelled."""
        async with asyncio.TaskGroup() as signs:
            while True:
                event = await self.arrivals.get()
                try:
                    await self._notice(event)
                    if self.system_replies.sign_after and event.id in self._standing_back:
                        signs.create_task(self._sign_in_time(event))
                finally:
                    self.arrivals.task_done()

    def _arrived(self, event: Event) -> None:
        if not event.is_from_person:
            return
        if self.run is None:
            self.early = event
        elif not self.arrivals.full():
            self._standing_back.append(event.id)
            self.arrivals.put_nowait(event)

    async def _notice(self, event: Event) -> None:
        run = self.run
        if run is None:
            return
        if predecessor(event) == run.event.id and event.owner_key == run.event.owner_key:
            is_unheard = await self._is_unheard(run)
            if is_unheard and run is self.run and not run.has_effect:
                run.superseded_by = event.id
                if run.stop.give("superseded"):
                    self._stop_speaking()
        elif self._goes_first(event, run):
            run.stop.give("preempted")
        self._give_way(event)
        if run.stop.reason is not None and run.kept_on:
            await self.system_replies.fill(event)

    def _goes_first(self, event: Event, run: Run) -> bool:
        """Whether a person's words come before the run in hand.

        Before an old question that used up a budget or that a model is tried with, and before its own work; a timer
        gives way after a thought (loop.py).
        """
        if not run.event.is_from_person:
            return run.event.priority < event.priority
        return bool(run.lease.grants) or (run.waited_for_model and not self.system_replies.run_state.has_words)

    def _give_way(self, event: Event) -> None:
        """Put an answer aside that stands still, of which something was heard: its rest comes after the new words."""
        run, run_state = self.run, self.system_replies.run_state
        if run is None or run.event.session_id != event.session_id or event.id not in self._standing_back:
            return
        if run.stands_still(SIGN_AFTER) and run_state.has_words and not run_state.is_speaking:
            run.stop.give("preempted")

    async def _sign_in_time(self, event: Event) -> None:
        """Let whoever spoke hear that their words are not lost, when others are in hand for long without a word.

        Of others in another room they hear nothing: they are told at once.
        """
        is_speaking = self.run is None or room_of(self.run.event) == room_of(event)
        while is_speaking and event.id in self._standing_back:
            await asyncio.sleep(self.system_replies.sign_after)
            is_speaking = self.system_replies.run_state.is_speaking
            self._give_way(event)
        if event.id in self._standing_back:
            await self.system_replies.sign(event)

    async def _is_unheard(self, run: Run) -> bool:
        """Whether no answer to this event was heard yet; a filler is a sound, but no answer."""
        if run.is_resumed or run.lease.note:
            return False
        try:
            started = await self._journal.entries(topic=SENTENCE_STARTED, event_id=run.event.id)
        except MemoryFailure:
            return False
        return all(str(entry.body.get("call_id", "")).startswith(FILLER) for entry in started)
