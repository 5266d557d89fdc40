"""While the state cannot be written: whoever waits for an answer is told so, once each, instead of hearing nothing."""

from contextlib import suppress
from dataclasses import dataclass, field

from agent.event import Event
from agent.replies import Reply, ReplySink
from agent.run.phrases import of_outage, phrase
from agent.run.system_replies import FILLER
from memory.errors import MemoryFailure


@dataclass(slots=True)
class Outage:
    """One outage of the disk, from the first refusal until `end` is called, as people notice it."""

    outlet: ReplySink
    _told: set[str] = field(default_factory=set)
    """Ids of the events whose person knows; as many as were accepted before the disk refused, and not handled yet."""

    async def tell(self, event: Event, failure: MemoryFailure) -> None:
        """Say that a person's words were heard and are answered later; without waiting for the sound."""
        if not event.is_from_person or event.id in self._told:
            return
        self._told.add(event.id)
        delivery = self.outlet.open(Reply(event, f"{FILLER}disk-{event.id}"))
        await delivery.feed(phrase(of_outage(failure), event.content))
        with suppress(MemoryFailure):  # that it was said is not written down either
            await delivery.close()

    def end(self) -> None:
        """Take note that the state can be written again: the next outage is told of anew."""
        self._told.clear()
