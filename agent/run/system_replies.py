"""What the runtime says itself: its fixed sentences to a person, and one filler while something takes its time."""

from dataclasses import dataclass

from agent.event import ASR_TRANSCRIPT, Event
from agent.replies import Reply, ReplySink
from agent.run.phrases import phrase
from agent.run.run import Run
from agent.run.run_state import RunState

FILLER = "filler-"
"""How the call id of a filler begins: it is a sound, and no answer."""


@dataclass(slots=True)
class SystemReplies:
    """Speaks where a person waits for words; says nothing in work of its own."""

    outlet: ReplySink
    desk: RunState
    _filled: str = ""
    """Id of the event that has had its filler."""

    async def say(self, run: Run, name: str) -> None:
        """Say one of the fixed sentences, and wait until it was heard."""
        await self.deliver(run, name, phrase(name, run.event.content))

    async def deliver(self, run: Run, name: str, text: str) -> None:
        """Say a text as a reply of its own, and wait until it was heard."""
        if not run.event.is_from_person:
            return
        call_id = f"{name}-{run.id}"
        delivery = self.desk.deliveries[call_id] = self.outlet.open(Reply(run.event, call_id, self.desk.already))
        await delivery.feed(text)
        await delivery.close()
        await delivery.ended()

    async def fill(self, event: Event) -> None:
        """Tell whoever spoke that it takes a moment: once an event, and without waiting for the sound."""
        if event.type != ASR_TRANSCRIPT or self._filled == event.id:
            return
        self._filled = event.id
        delivery = self.outlet.open(Reply(event, f"{FILLER}{event.id}"))
        await delivery.feed(phrase("moment", event.content))
        await delivery.close()
