"""The replies of the system itself: fixed sentences to a person, and one filler while something takes its time."""

from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from time import monotonic
from typing import Final

from msgspec import Struct, field

from agent.event import ASR_TRANSCRIPT, Event, utc_now
from agent.mailbox.mail import first_words
from agent.replies import Delivered, Reply, ReplySink
from agent.run.budget import SIGN_AFTER
from agent.run.run import Run
from agent.run.run_state import RunState
from agent.tables import table
from memory.chinese import has_chinese
from memory.errors import DiskFull, MemoryFailure

MOST_FILLED: Final = 64
"""Events that stand back at a time, and are remembered as having had their sign."""

FILLER: Final = "filler-"
"""How the call id of a filler begins: it is a sound, and no answer."""

_PHRASES: Final[Mapping[str, Sequence[str]]] = table(__package__, "system_replies.yaml")
"""English and Chinese; read at the start, as some of them are said when the disk can be read no more."""


class Question(Struct, frozen=True):
    """A question as it was heard."""

    is_whole: bool
    """Whether to its end."""
    at: datetime
    """Aware UTC; when it was over."""
    clock: float
    """The same in seconds on the clock of the ears."""


class SystemReplies(Struct):
    """Speaks where a person waits for words; says nothing in the agent's own work."""

    reply_sink: ReplySink
    run_state: RunState
    earcon: Callable[[], Awaitable[object]] | None = None
    """Plays the sign that it goes on, at the box; None says a sentence instead, as elsewhere."""
    sign_after: float = SIGN_AFTER
    """Seconds without a word until such a sign; 0 is never."""
    clock: Callable[[], float] = monotonic
    """The one that the times of what is heard are on; in seconds."""
    now: Callable[[], datetime] = utc_now
    _filled: deque[str] = field(default_factory=lambda: deque(maxlen=MOST_FILLED))
    """Ids of the newest events that have had their filler or sign."""
    _told_of_outage: set[str] = set()
    """Ids of events whose person knows; as many as were accepted before the disk refused, and not handled yet."""

    async def say(self, run: Run, name: str) -> None:
        """Say one of the fixed sentences, and wait until it was heard."""
        await self.deliver(run, name, phrase(name, run.event.content))

    async def deliver(self, run: Run, name: str, text: str) -> None:
        """Say a text as a reply of its own, and wait until it was heard."""
        if not run.event.is_from_person:
            return
        await self._hand_over(Reply(run.event, f"{name}-{run.id}", self.run_state.already, stages=run.stages), text)

    async def ask(self, run: Run, call_id: str, text: str) -> Question:
        """Ask whoever spoke, and wait until that is over; it is asked whole, whatever was said before a crash."""
        account = await self._hand_over(Reply(run.event, call_id, stages=run.stages), text)
        is_whole = not account.interrupted and account.heard.strip() == account.text.strip() != ""
        return Question(is_whole, self.now(), self.clock())

    async def sign(self, event: Event) -> None:
        """Let whoever spoke hear that it goes on: once an event."""
        if event.type != ASR_TRANSCRIPT or event.id in self._filled:
            return
        if self.earcon is None or event.source != "mic":
            await self.fill(event)
        else:
            self._filled.append(event.id)
            await self.earcon()

    async def fill(self, event: Event) -> None:
        """Tell whoever spoke that it takes a moment: once an event, and without waiting for the sound."""
        if event.type != ASR_TRANSCRIPT or event.id in self._filled:
            return
        self._filled.append(event.id)
        await self._begin(Reply(event, f"{FILLER}{event.id}", is_sign=True), phrase("moment", event.content))

    async def tell_slow(self, event: Event) -> None:
        """Say that the answer takes long, once an event; not to a program, which would take it for the answer."""
        name = f"slow-{event.id}"
        is_program = event.source == "http" and not event.metadata.get("speak")
        if is_program or name in self._filled:
            return
        self._filled.append(name)
        await self.tell(event, "slow")

    async def tell(self, event: Event, name: str, **values: str) -> None:
        """Say one of the fixed sentences to a person beside the answer, without waiting for the sound."""
        words = phrase(name, values.get("phrase", event.content), **values)
        await self._begin(Reply(event, f"{FILLER}{name}-{event.id}"), words)

    async def tell_of_outage(self, event: Event, failure: MemoryFailure) -> None:
        """Say that a person's words were heard and are answered once the state can be written again.

        Once an event and outage, without waiting for the sound.
        """
        if not event.is_from_person or event.id in self._told_of_outage:
            return
        self._told_of_outage.add(event.id)
        delivery = self.reply_sink.open(Reply(event, f"{FILLER}disk-{event.id}"))
        await delivery.feed(phrase(of_outage(failure), event.content))
        with suppress(MemoryFailure):  # that it was said is not written down either
            await delivery.close()

    async def _hand_over(self, reply: Reply, text: str) -> Delivered:
        """Say a whole reply of the run in hand, and wait until it was heard; return what became of it."""
        delivery = self.run_state.deliveries[reply.call_id] = self.reply_sink.open(reply)
        await delivery.feed(text)
        await delivery.close()
        return await delivery.ended()

    async def _begin(self, reply: Reply, text: str) -> None:
        """Say a whole reply beside the answer, without waiting for the sound."""
        delivery = self.reply_sink.open(reply)
        await delivery.feed(text)
        await delivery.close()

    def outage_ended(self) -> None:
        """Take note that the state can be written again: people are told of the next outage anew."""
        self._told_of_outage.clear()


def phrase(name: str, words: str, **values: str) -> str:
    """Return the sentence of that name in the language the words are in (Chinese or English). Raises KeyError.

    One that comes later than its question names that by the first of the words; `values` fill its other gaps.
    """
    english, chinese = _PHRASES[name]
    sentence = (chinese if has_chinese(words) else english).replace("{task}", first_words(words).rstrip("…"))
    for gap, value in values.items():
        sentence = sentence.replace(f"{{{gap}}}", value)
    return sentence


def of_outage(failure: MemoryFailure) -> str:
    """Return the name of the sentence for words that could not be written down because of this."""
    return "disk_full" if isinstance(failure, DiskFull) else "disk_unusable"
