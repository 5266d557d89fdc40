"""Replies into sound: cut into sentences, committed to the journal, handed to the mouth one by one."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import ClassVar, Final, Protocol

import structlog
from msgspec import Struct, field

from agent.bus import Bus
from agent.event import Event
from agent.record import step
from agent.replies import SENTENCE_STARTED, Delivered, Reply
from agent.run.system_replies import FILLER
from appliance.output.text import named_sources
from audio.errors import SentenceRefused
from audio.language import sentence_language
from audio.playback.speech_output import Speaks, SpeechObserver, SpokenSentence
from audio.tts.sentences import CLAUSE_MARKS, SentenceSplitter
from memory.errors import MemoryFailure, Superseded, Unconfirmed
from memory.json_value import Json

log = structlog.get_logger()

PATIENCE: Final = 1.0
"""Seconds of a reply's writing after which a clause of its first sentence is said: a model on a small board needs four
for a long one, and is still quicker than speech."""

SENTENCE_ENDED = "speech.sentence_ended"
FIRST_SOUND = "speech.first_sound"


class Says(Speaks, Protocol):
    """What says sentences (`SpeechOutput`, or `appliance.machines.mind.speech.MachineSpeech`)."""

    async def say(self, sentence: SpokenSentence) -> None:
        """Queue a sentence; waits while too many are waiting."""

    def hush(self) -> None:
        """Be silent at once: drop all that was said so far and is not heard yet."""


class VoiceReplySink(SpeechObserver):
    """Speaks replies. Sentences at most once, for as long as the disk takes the commit before the first sample.

    No kill has one said twice. A cut of the power may, one whose sound began within the last `SYNC_AFTER` before it: no
    sound waits for the disk, and of so little nobody has understood a word.

    Every sentence of the mouth is journaled: a reply's below its event, what is said otherwise (a reflex's words, a
    reply that is said again) for itself.
    """

    def __init__(self, mouth: Says, bus: Bus, language: str) -> None:
        self._mouth = mouth
        self._bus = bus
        self._language = language
        self._open: dict[str, VoiceDelivery] = {}
        self._failing = ""
        """Why the newest sentence could not be said, once that was told; "" after one was heard."""
        mouth.observe(self)

    def open(self, reply: Reply) -> "VoiceDelivery":
        """Return a delivery that speaks the reply in the room."""
        over = partial(self._open.pop, reply.call_id)
        delivery = VoiceDelivery(reply, self._mouth, self._bus, self._language, over)
        self._open[reply.call_id] = delivery
        return delivery

    @property
    def is_replying(self) -> bool:
        """Whether a reply is under way."""
        return bool(self._open)

    def stop_speaking(self) -> str:
        """Be silent at once, and say nothing more of the replies under way.

        Returns the id of the event whose reply was under way first, "" when there was none.
        """
        deliveries = list(self._open.values())
        for delivery in deliveries:
            delivery.interrupt()
        self._mouth.hush()
        return deliveries[0].reply.event.id if deliveries else ""

    async def sentence_started(self, sentence: SpokenSentence) -> None:
        """Journal a sentence before its first sample.

        Raises `SentenceRefused` where another machine of the household may be saying it; a word about an outage alone
        is said as long as none is known to lead.
        """
        body: dict[str, Json] = {"call_id": sentence.key, "number": sentence.number}
        envelope = self._envelope(SENTENCE_STARTED, sentence, body, sentence.text)
        try:
            await self._publish(envelope)
        except Unconfirmed as error:
            if isinstance(error, Superseded) or not sentence.key.startswith(FILLER):
                raise SentenceRefused(f"another machine may be saying it: {error}") from error
        log.info("sentence_started", event_id=envelope.parent_id, number=sentence.number, words=sentence.text)

    def _envelope(self, topic: str, sentence: SpokenSentence, body: dict[str, Json], words: str = "") -> Event:
        if (delivery := self._open.get(sentence.key)) is not None:
            return step(topic, delivery.reply.event, "", body, words)
        return Event(type=topic, content=words, source="mouth", metadata=body)

    async def _publish(self, envelope: Event) -> None:
        """Publish; where the disk refuses, it speaks all the same: a sentence twice is better than a mute box.

        Raises `Unconfirmed`: then it may be no box that is mute, but one of two.
        """
        try:
            await self._bus.publish(envelope, durable=False)
        except Unconfirmed:
            raise
        except MemoryFailure as error:
            log.warning("sentence_not_journaled", reason=str(error))

    def first_sound(self, sentence: SpokenSentence, at: float, made_at: float | None = None) -> None:
        """Show when a sentence is heard first, and mark when the voice gave it."""
        self._failing = ""
        if (delivery := self._open.get(sentence.key)) is not None:
            if made_at is not None:
                delivery.reply.stages.mark("synthesized", made_at)
            delivery.reply.stages.mark("first_sound", at)
        self._bus.show(self._envelope(FIRST_SOUND, sentence, {"number": sentence.number, "at": at}))

    def sentence_failed(self, sentence: SpokenSentence, reason: str) -> None:
        """Log why a sentence was not said whole, once until something is heard again.

        A ring without a loudspeaker fails every few seconds.
        """
        tell = log.debug if reason == self._failing else log.warning
        self._failing = reason
        tell("sentence_failed", number=sentence.number, reason=reason)

    async def sentence_ended(self, sentence: SpokenSentence, heard: str, whole: bool) -> None:
        """Journal what was heard of a sentence, and tell the reply that it belongs to."""
        body: dict[str, Json] = {"call_id": sentence.key, "number": sentence.number, "whole": whole, "heard": heard}
        if whole:
            self._failing = ""
        else:
            body["unsaid"] = sentence.text.removeprefix(heard).strip()
            log.info("sentence_cut_off", number=sentence.number, words=heard)
        with suppress(Unconfirmed):
            await self._publish(self._envelope(SENTENCE_ENDED, sentence, body))
        if (delivery := self._open.get(sentence.key)) is not None:
            delivery.account(heard, whole=whole)


class VoiceDelivery(Struct):
    """One reply on its way to the loudspeaker."""

    reply: Reply
    mouth: Says
    bus: Bus
    language: str
    on_over: Callable[[], object]
    """Called once, when nothing more will be spoken of it."""
    _splitter: SentenceSplitter = field(default_factory=SentenceSplitter)
    _skip: list[str] = []
    """Sentences said before a crash, and not met again yet."""
    _began: float | None = None
    """When the first of its words came, on the clock of its stages."""
    _handed: list[str] = []
    _heard: list[str] = []
    _under_way: int = 0
    _interrupted: bool = False
    _is_hushed: bool = False
    """Nobody wants to hear more of it: what comes is neither said nor handed on."""
    _closed: bool = False
    _over: asyncio.Event = field(default_factory=asyncio.Event)
    is_written: ClassVar = False

    def __post_init__(self) -> None:
        self._skip = list(self.reply.already)

    @property
    def handed(self) -> str:
        """What was handed to the mouth so far: whole sentences, but for a first one that was long in coming.

        What was spoken before a crash is included.
        """
        return " ".join(self._handed)

    async def feed(self, text: str) -> None:
        """Hand on the sentences that the text completes, and a clause where nobody should wait for the first."""
        for sentence in self._splitter.feed(text):
            await self._say(sentence)
        now = self.reply.stages.clock()
        self._began = now if self._began is None else self._began
        if not self._handed and now - self._began >= PATIENCE and (clause := self._splitter.clause()):
            await self._say(clause)

    async def close(self) -> None:
        """Hand on what is left as the last sentence."""
        if not self._closed:
            for sentence in self._splitter.finish():
                await self._say(sentence)
            await self.cut()
            if self._handed and (named := named_sources(self.reply)) is not None:
                self.bus.hold(named, durable=False)  # what it rests on is written down, not said

    async def cut(self) -> None:
        """Drop the unfinished sentence."""
        self._closed = True
        self._end_if_over()

    def interrupt(self) -> None:
        """Hand nothing more to the mouth, whatever is still fed."""
        self._interrupted = self._is_hushed = True

    @property
    def is_over(self) -> bool:
        """Whether the last sentence was heard or dropped."""
        return self._over.is_set()

    @property
    def is_sounding(self) -> bool:
        """Whether a sentence is heard, or waits for the mouth."""
        return self._under_way > 0

    async def ended(self) -> Delivered:
        """Wait until the last sentence was heard or dropped."""
        await self._over.wait()
        return Delivered(self.handed, " ".join(self._heard), self._interrupted)

    def account(self, heard: str, *, whole: bool) -> None:
        """Take note of what was heard of the oldest sentence under way."""
        self._under_way -= 1
        self._heard += [heard] if heard else []
        self._interrupted = self._interrupted or not whole
        self._end_if_over()

    async def _say(self, sentence: str) -> None:
        if self._is_hushed:
            return
        said = next((each for each in self._skip if _is_begun_by(sentence, each)), "")
        if said:
            self._skip.remove(said)
            self._handed.append(said)
            sentence = sentence[len(said) :].lstrip()
            if not sentence:
                return
        self._handed.append(sentence)
        language = sentence_language(sentence, self.language)
        await self._hand(SpokenSentence(self.reply.call_id, len(self._handed), sentence, language))

    async def hand(self, number: int, sentence: str, language: str) -> bool:
        """Hand on a sentence that was cut elsewhere, under its number there; False where nobody wants to hear more."""
        if self._is_hushed:
            return False
        self._handed.append(sentence)
        await self._hand(SpokenSentence(self.reply.call_id, number, sentence, language))
        return True

    async def _hand(self, sentence: SpokenSentence) -> None:
        self._under_way += 1
        self.reply.stages.mark("first_sentence")
        await self.mouth.say(sentence)

    def _end_if_over(self) -> None:
        if self._closed and self._under_way == 0 and not self._over.is_set():
            self._over.set()
            self.on_over()


def _is_begun_by(sentence: str, said: str) -> bool:
    """Whether a sentence was said, or its first clause, which is all that is ever said of one before the rest."""
    return sentence == said or (said.endswith(tuple(CLAUSE_MARKS)) and sentence.startswith(said))
