"""The state of the run in hand: its event, and what the agent decided about it; tools write, the run carries it out."""

from typing import TypeAlias

from msgspec import Struct, field

from agent.attachments.attachment import Image
from agent.context.summary import Compression
from agent.mailbox import Lease, Wake
from agent.replies import ReplyStream, Sources
from agent.run.run import Status
from agent.turns.stages import Stages


class Completion(Struct, frozen=True):
    """It is done with the event."""

    summary: str
    importance: float | None = None
    """Its own judgement of how much it matters, 0 to 1; None leaves it to the rule."""
    reason: str = ""
    """Why it judges so."""


class Suspension(Struct, frozen=True):
    """It puts the event back with a note, until a wake condition."""

    note: str
    wake: Wake
    for_budget: bool = False
    """The runtime did, because the budget was used up: it comes back with a fresh grant, twice at most."""
    reason: str = ""
    """Why no model answered it, for people; never told to a model, since a server's words are in it."""


class Superseded(Struct, frozen=True):
    """The person went on speaking before anything came of it: another event has the words too."""


class GivenUp(Struct, frozen=True):
    """It goes to the dead letter."""

    reason: str
    status: Status = "FAILED"


Ending: TypeAlias = Completion | Suspension | Superseded | GivenUp


class RunState(Struct):
    """One event at a time; cleared when the loop is done with it."""

    lease: Lease | None = None
    run_id: str = ""
    ending: Completion | Suspension | None = None
    compression: Compression | None = None
    """What it carries on of all that came before, once compress_context was called."""
    deliveries: dict[str, ReplyStream] = {}
    """Replies under way, by call id, in the order they were opened."""
    images: dict[str, tuple[Image, ...]] = {}
    """Laid beside results that are not in the context yet, by call id."""
    elsewhere: set[str] = set()
    """Those of them that are said in another room, or also aloud."""
    already: tuple[str, ...] = ()
    """Sentences of this event that were committed to the mouth before a crash, in order; or what was read of it."""
    said_before: tuple[str, ...] = ()
    """What was said for it when it was taken up before, and no model answered to the end."""
    sources: Sources = field(default_factory=Sources)
    """What its answers rest on."""
    stages: Stages = field(default_factory=Stages)
    """When its turn reached what."""

    def lay(self, lease: Lease, run_id: str, already: tuple[str, ...], stages: Stages) -> None:
        """Begin anew with an event."""
        self.clear()
        self.lease, self.run_id, self.already, self.stages = lease, run_id, already, stages

    def run_id_of(self, event_id: str) -> str:
        """Return the id of the run if it is of this event, else ""."""
        return self.run_id if self.lease is not None and self.lease.event.id == event_id else ""

    @property
    def said(self) -> list[str]:
        """The texts that went, or go, where the event came from; an open one without its last sentence."""
        return [delivery.handed for call_id, delivery in self.deliveries.items() if call_id not in self.elsewhere]

    @property
    def has_words(self) -> bool:
        """Whether anything was said for this event, or handed on to be said."""
        return bool(self.already) or any(delivery.handed.strip() for delivery in self.deliveries.values())

    @property
    def is_written(self) -> bool:
        """Whether something of a reply is being read."""
        return any(delivery.is_written for delivery in self.deliveries.values())

    @property
    def is_speaking(self) -> bool:
        """Whether something of a reply is being said, or is about to be."""
        return any(delivery.is_sounding for delivery in self.deliveries.values())

    def clear(self) -> None:
        """Keep nothing of the event, nor of its replies."""
        self.lease, self.run_id, self.already, self.said_before = None, "", (), ()
        self.ending = self.compression = None
        self.deliveries, self.images, self.elsewhere = {}, {}, set()
        self.sources, self.stages = Sources(), Stages()
