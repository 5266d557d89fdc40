"""The state of the run in hand: its event, and what the agent decided about it; tools write, the run carries it out."""

import re
from collections.abc import Iterable
from typing import ClassVar, Final, TypeAlias

from msgspec import Struct, field

from agent.attachments.attachment import Image
from agent.context.summary import Compression
from agent.mailbox import Lease, Wake
from agent.replies import ReplyStream, Sources
from agent.run.run import Status
from agent.turns.stages import Stages

_SENTENCE: Final = re.compile(r"""(?:[.!?…]+["'”’)\]]*(?=\s)|[。！？]+[”’」』）]*|\n)\s*""")
"""The end of a sentence, with the space behind it."""


class Completion(Struct, frozen=True):
    """It is done with the event."""

    status: ClassVar[Status] = "COMPLETED"
    summary: str
    importance: float | None = None
    """Its own judgement of how much it matters, 0 to 1; None leaves it to the rule."""
    reason: str = ""
    """Why it judges so."""


class Suspension(Struct, frozen=True):
    """It puts the event back with a note, until a wake condition."""

    status: ClassVar[Status] = "SUSPENDED"
    note: str
    wake: Wake
    for_budget: bool = False
    """The runtime did, because the budget was used up: it comes back with a fresh grant, twice at most."""
    reason: str = ""
    """Why no model answered it, for people; never told to a model, since a server's words are in it."""


class Superseded(Struct, frozen=True):
    """The person went on speaking before anything came of it: another event has the words too."""

    status: ClassVar[Status] = "COMPLETED"


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

    def unrepeated(self, *others: str) -> "Unrepeated":
        """Return what leaves out of an answer what was said for this event before, or in these other texts."""
        return Unrepeated([*self.said_before, *self.said, *others])

    def clear(self) -> None:
        """Keep nothing of the event, nor of its replies."""
        self.lease, self.run_id, self.already, self.said_before = None, "", (), ()
        self.ending = self.compression = None
        self.deliveries, self.images, self.elsewhere = {}, {}, set()
        self.sources, self.stages = Sources(), Stages()


class Unrepeated:
    """Words as they arrive, held for as long as they may only say again what was said for the event before.

    Sentences that were said are left out until one comes that was not; from there on all is new.
    """

    def __init__(self, said: Iterable[str]) -> None:
        self._said = {letters for text in said for part in (text, *sentences_of(text)) if (letters := letters_of(part))}
        self._held = ""

    def feed(self, text: str) -> str:
        """Return what may be said now."""
        if not self._said:
            return text
        self._held += text
        while (end := first_end(self._held)) and letters_of(self._held[:end]) in self._said:
            self._held = self._held[end:]
        letters = letters_of(self._held)
        if any(each.startswith(letters) for each in self._said):
            return ""
        return self._release()

    def finish(self) -> str:
        """Return what was held, unless all of it was said before."""
        return "" if letters_of(self._held) in self._said else self._release()

    def _release(self) -> str:
        words, self._held, self._said = self._held, "", set()
        return words


def first_end(text: str) -> int:
    """Return where the first sentence of a text ends, with the space behind it; 0 where it does not."""
    end = _SENTENCE.search(text)
    return end.end() if end else 0


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a text."""
    sentences: list[str] = []
    while end := first_end(text):
        sentences.append(text[:end])
        text = text[end:]
    return [*sentences, text]


def letters_of(text: str) -> str:
    """Return the letters and digits of a text, small: what makes two texts the same words."""
    return "".join(filter(str.isalnum, text.casefold()))
