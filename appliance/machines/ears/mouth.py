"""The sentences of a mind elsewhere, spoken here: each once, in order, and what was heard of it told back."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable, Collection
from datetime import datetime
from typing import Final

import structlog
from msgspec.structs import replace

from agent.event import ASR_TRANSCRIPT, Event, utc_now
from agent.replies import SENTENCE_STARTED, Reply
from appliance.machines.wire import End, Interrupt, Report, Sentence, State, Stop
from appliance.output.voice import SENTENCE_ENDED, VoiceDelivery, VoiceReplySink
from audio.playback.speech_output import SpeechObserver, SpeechOutput, SpokenSentence
from memory.state.journal import Journal

log = structlog.get_logger()

MOST_KNOWN: Final = 1024
"""Sentences whose end is remembered; of older ones the journal knows."""

MOST_WAITING: Final = 128
"""Sentences that were taken and not handed to the voice; one more gets no answer, and is sent again."""

MOST_TOLD: Final = 256
"""Reports on their way; past it the oldest is not told by itself, and the mind asks."""

MOST_SILENCED: Final = 64
"""Events of which nobody wants to hear more."""


class RemoteMouth(SpeechObserver):
    """Speaks what a mind elsewhere sends. On the event loop; `run` hands on what was taken.

    A sentence is known by its reply and its number. That it began is in the journal before its first sample, so that
    it is not begun again, by this start of the program or another. The voice does with a remote reply what it does
    with one of its own: barge-in, stop and pauses act on it at once.
    """

    def __init__(
        self,
        machine: str,
        speech: SpeechOutput,
        replies: VoiceReplySink,
        journal: Journal,
        answered: Callable[[str], object],
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        """`answered` is told of each event to which an answer begins; `machine` is what this one is called."""
        self._machine = machine
        self._replies = replies
        self._journal = journal
        self._answered = answered
        self._now = now
        self._epoch = 0
        """The highest that was heard of."""
        self._reports: OrderedDict[tuple[str, int], Report] = OrderedDict()
        self._deliveries: dict[str, VoiceDelivery] = {}
        """By the id of the reply; those that are under way."""
        self._newest: OrderedDict[str, int] = OrderedDict()
        """The highest number that was taken of each reply."""
        self._silenced: deque[str] = deque(maxlen=MOST_SILENCED)
        self._taken: asyncio.Queue[Sentence | End] = asyncio.Queue(MOST_WAITING)
        self.to_tell: asyncio.Queue[Report | Interrupt] = asyncio.Queue(MOST_TOLD)
        """What the mind is to be told, the oldest first."""
        speech.observe(self)

    def follow(self, epoch: int) -> None:
        """Take that a mind of this epoch lives: older ones have nothing to say any more."""
        self._epoch = max(self._epoch, epoch)

    async def take(self, message: Sentence | End | Stop) -> Report | None:
        """Take what the mind sends; return what became of a sentence so far, None for the others.

        Raises asyncio.QueueFull where too many wait: it is sent again.
        """
        is_old = message.epoch < self._epoch
        self.follow(message.epoch)
        if isinstance(message, Sentence):
            if is_old:
                return self._report(message, "old")
            return await self._take_sentence(message)
        if is_old:
            return None
        if isinstance(message, End):
            self._taken.put_nowait(message)
        elif not message.reply or message.reply in self._deliveries:
            self._replies.stop_speaking()
        return None

    def silence(self, room: str, event_id: str, others: Collection[str]) -> bool:
        """Take that nobody wants to hear more of an event ("": of any), nor of others that the mind has; tell the mind.

        Returns whether a reply to it was under way.
        """
        speaking = {each.reply.event.id for each in self._deliveries.values() if event_id in {"", each.reply.event.id}}
        self._silenced.extend({event_id, *others, *speaking} - {""})
        self._tell(Interrupt(self._machine, room, event_id))
        return bool(speaking)

    def end(self) -> None:
        """Take that the mind is away: what it has begun to say has no more sentences."""
        for reply in list(self._deliveries):
            if not self._taken.full():
                self._taken.put_nowait(End(self._epoch, reply, 0))

    async def run(self) -> None:
        """Hand what was taken to the voice, until cancelled."""
        while True:
            message = await self._taken.get()
            if isinstance(message, End):
                if (delivery := self._deliveries.pop(message.reply, None)) is not None:
                    await delivery.close()
            else:
                await self._say(message)

    async def sentence_started(self, sentence: SpokenSentence) -> None:
        """Tell that it begins; by then the journal has it."""
        self._change(sentence, "started")

    async def sentence_ended(self, sentence: SpokenSentence, heard: str, whole: bool) -> None:
        """Tell what was heard of it."""
        self._change(sentence, "heard" if whole else "cut" if heard else "dropped", heard)

    async def _take_sentence(self, sentence: Sentence) -> Report:
        key = (sentence.reply, sentence.number)
        if known := self._reports.get(key):
            return known
        if before := await self._before(sentence):
            return self._keep(before)
        if known := self._reports.get(key):  # taken, while the journal was asked
            return known
        if sentence.until and datetime.fromisoformat(sentence.until) < self._now():
            log.info("sentence_too_late", event_id=sentence.event_id, number=sentence.number)
            return self._keep(self._report(sentence, "late"))
        is_behind = sentence.number <= self._newest.get(sentence.reply, 0)
        if is_behind or sentence.event_id in self._silenced:
            return self._keep(self._report(sentence, "dropped"))
        self._taken.put_nowait(sentence)
        self._newest[sentence.reply] = sentence.number
        if len(self._newest) > MOST_KNOWN:
            self._newest.popitem(last=False)
        if not sentence.is_sign:
            self._answered(sentence.event_id)
        return self._keep(self._report(sentence, "waits"))

    async def _before(self, sentence: Sentence) -> Report | None:
        """Return what the journal knows of a sentence from before this start; None where it was not begun."""
        topics = (SENTENCE_STARTED, SENTENCE_ENDED)
        entries = await self._journal.entries(topic=topics, event_id=sentence.event_id)
        wanted = (sentence.reply, sentence.number)
        own = [each for each in entries if (each.body.get("call_id"), each.body.get("number")) == wanted]
        if not own:
            return None
        last = own[-1]
        heard = str(last.body.get("heard", ""))
        whole = last.topic == SENTENCE_ENDED and bool(last.body.get("whole"))
        return self._report(sentence, "heard" if whole else "cut", heard)

    async def _say(self, sentence: Sentence) -> None:
        delivery = self._deliveries.get(sentence.reply)
        if delivery is None or delivery.is_over:
            event = Event(ASR_TRANSCRIPT, id=sentence.event_id, source="mic")
            delivery = self._replies.open(Reply(event, sentence.reply, is_sign=sentence.is_sign))
            self._deliveries[sentence.reply] = delivery
        is_wanted = sentence.event_id not in self._silenced
        if not (is_wanted and await delivery.hand(sentence.number, sentence.text, sentence.language)):
            self._tell(self._keep(self._report(sentence, "dropped")))

    def _change(self, sentence: SpokenSentence, state: State, heard: str = "") -> None:
        if known := self._reports.get((sentence.key, sentence.number)):
            self._tell(self._keep(replace(known, state=state, heard=heard)))

    def _report(self, sentence: Sentence, state: State, heard: str = "") -> Report:
        return Report(self._machine, sentence.event_id, sentence.reply, sentence.number, state, heard)

    def _keep(self, report: Report) -> Report:
        self._reports[report.reply, report.number] = report
        if len(self._reports) > MOST_KNOWN:
            self._reports.popitem(last=False)
        return report

    def _tell(self, message: Report | Interrupt) -> None:
        if self.to_tell.full():
            self.to_tell.get_nowait()
        self.to_tell.put_nowait(message)
