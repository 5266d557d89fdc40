"""Speech at ears elsewhere: sentences are committed here, sent there, and accounted for by what the ears report."""

import asyncio
import math
from collections import deque
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from time import monotonic
from typing import Final

import structlog
from msgspec import Struct

from agent.event import Event, new_id, utc_now, utc_text
from agent.replies import Reply
from appliance.machines.wire import End, Report, Sentence, State, Stop, Timers, pack, topic_of, unpack
from appliance.output.unasked import File
from audio.errors import AudioError
from audio.loops import Loop, until_set
from audio.playback.speech_output import SpeechObserver, SpokenSentence
from audio.speech import SpeechAudio
from memory.engine.interface import Engine
from memory.errors import EngineFailure, NobodyServes

log = structlog.get_logger()

MOST_WAITING: Final = 64
"""Sentences said and not committed; past it `say` waits."""

AHEAD: Final = 3
"""Sentences that are committed and sent while the one before sounds: their sound is made there meanwhile."""

AGAIN_SECONDS: Final = 1.0
"""After which a sentence is sent again whose end was not told; the ears answer with what became of it."""

BEGINS_WITHIN: Final = timedelta(seconds=30)
"""Of a sentence, from when it was sent: one that comes later is no answer any more."""

MOST_UNSURE: Final = 64
"""Sentences of ears that went away in the middle, about which they are asked when they are back."""

MOST_REPLIES: Final = 16
"""Newest ones, of which it is known what they answer."""

AWAY_AFTER: Final = 6.0
"""Seconds without a word of ears after which they are away."""

ENDED: Final = frozenset[State]({"heard", "cut", "dropped", "late", "old"})


class Way(Struct):
    """The way to one pair of ears."""

    machine: str
    engine: Engine
    epoch: int
    """Of this mind's lease."""
    clock: Callable[[], float]
    seen_at: float = float("-inf")
    is_known: bool = False
    """Whether they were heard, and asked about what an earlier start sent them."""
    is_heard: bool = False
    """Whether they were ever heard since this start."""

    @property
    def is_there(self) -> bool:
        """Whether the ears tell that they live, or may be about to, after a start."""
        return self.clock() - self.seen_at <= AWAY_AFTER

    async def ask(self, message: Sentence | End | Stop | Timers) -> Report | None:
        """Send a message; return what came back of a sentence. Raises `EngineFailure`; `NobodyServes` is in vain."""
        answer = await self.engine.topics.request(topic_of(self.machine), pack(message))
        report = unpack(answer) if isinstance(message, Sentence) else None
        return report if isinstance(report, Report) else None


class Line(Struct, eq=False):
    """A sentence on its way, or the end of a reply."""

    sentence: SpokenSentence
    event: Event | None
    is_sign: bool = False
    is_end: bool = False
    is_given_up: bool = False
    until: str = ""
    may_be_there: bool = False
    """Whether the ears may have it: it was sent, and not surely in vain."""
    is_taken: bool = False
    """Whether they said so."""
    has_begun: bool = False
    report: Report | None = None
    """Once it has ended."""
    asked_at: float = -math.inf
    comes_later: bool = False
    """Whether it is the rest of a reply that the ears have the beginning of, and were away for."""

    def give_up(self) -> None:
        """Take that nobody wants to hear it any more."""
        self.is_given_up = True

    @property
    def key(self) -> tuple[str, int]:
        """How the ears know it."""
        return self.sentence.key, self.sentence.number


class MachineSpeech:
    """Says sentences at one pair of ears, in order. On the event loop; `loops` does all that takes time.

    Each sentence that was said ends exactly once, in order. At most once: observers are told that it starts, which
    the journal takes, before it is sent for the first time; sent again it is the same to the ears by its reply and
    number. What is unknown because the ears went away is asked for when they are back: what they have not begun is
    handed to `file`.
    """

    def __init__(
        self, way: Way, file: File, clock: Callable[[], float] = monotonic, now: Callable[[], datetime] = utc_now
    ) -> None:
        """`clock` gives seconds, `now` the aware time."""
        self._way = way
        self._file = file
        self._clock = clock
        self._now = now
        self._observers: list[SpeechObserver] = []
        self._replies: dict[str, Reply] = {}
        self._waiting: asyncio.Queue[Line] = asyncio.Queue(MOST_WAITING)
        self._open: deque[Line] = deque()
        """Everything said and not ended, in order."""
        self._sent: list[Line] = []
        """What was committed and has not ended; a part of `_open`, in order."""
        self._is_to_stop = False
        """Whether the ears are to be silent, and do not know it yet."""
        self._begun: deque[str] = deque(maxlen=MOST_REPLIES)
        """Replies that the ears may have something of."""
        self._unsure: deque[Line] = deque(maxlen=MOST_UNSURE)
        self._changed = asyncio.Event()
        self._free = asyncio.Event()
        self._accounting = asyncio.Lock()

    def observe(self, observer: SpeechObserver) -> None:
        """Tell one more observer, behind those that are told already; for good."""
        self._observers.append(observer)

    @property
    def current(self) -> SpokenSentence | None:
        """The sentence that sounds or comes next; None when all that was said has ended."""
        return next((line.sentence for line in self._open if not line.is_end), None)

    def answers(self, reply: Reply) -> None:
        """Take what the sentences of a reply answer."""
        while len(self._replies) >= MOST_REPLIES:
            del self._replies[next(iter(self._replies))]
        self._replies[reply.call_id] = reply

    async def say(self, sentence: SpokenSentence) -> None:
        """Queue a sentence; waits while `MOST_WAITING` are waiting."""
        if self.current is None:
            self._tell_speaking(True)
        reply = self._replies.get(sentence.key)
        await self._queue(Line(sentence, reply.event if reply else None, reply is not None and reply.is_sign))

    def end(self, key: str, words: str) -> None:
        """Take that a reply has no more sentences; the ears are told behind the last one."""
        if not self._waiting.full():  # else they end it by their own patience
            line = Line(SpokenSentence(key, 0, words, ""), None, is_end=True)
            self._open.append(line)
            self._waiting.put_nowait(line)

    async def announce(
        self, sound: SpeechAudio, sentence: SpokenSentence, unless: Callable[[], bool] | None = None
    ) -> bool:
        """Say a sentence behind what is being said; the sound is left to the ears, which have their own.

        Returns when it was queued, False where `unless` says so: nothing is said then.
        """
        if unless is not None and unless():
            return False
        await self.say(SpokenSentence(f"say-{new_id()}", 1, sentence.text, sentence.language))
        return True

    def hush(self) -> None:
        """Have the ears be silent at once: drop all that was said so far and is not heard yet."""
        for line in self._open:
            line.give_up()
            self._is_to_stop = self._is_to_stop or (line.may_be_there and not line.is_end)
        self._changed.set()
        self._free.set()

    async def take(self, report: Report) -> None:
        """Take what the ears tell of a sentence; one that is known already, or of nothing that is open, is ignored."""
        line = next((each for each in self._sent if each.key == (report.reply, report.number)), None)
        if line is None or line.is_end or line.report is not None:
            return
        line.may_be_there = line.is_taken = True
        if report.state in {"started", "heard", "cut"} and not line.has_begun:
            line.has_begun = True
            for observer in self._observers:
                observer.first_sound(line.sentence, self._clock())
        if report.state in ENDED:
            line.report = report
            await self._end_first()

    async def gone(self) -> None:
        """Take that the ears are away: what they have not told the end of ends here, as far as is known."""
        for line in [each for each in self._open if not each.is_end]:
            line.comes_later = not line.is_given_up and self._is_rest(line)
            line.give_up()
            if line.report is None and (line in self._sent or line.comes_later):
                self._leave_for_later(line)
        for line in [each for each in self._open if each.is_end]:
            self._remove(line)
        self._is_to_stop = False
        await self._end_first()
        self._free.set()

    def _is_rest(self, line: Line) -> bool:
        """Whether the ears have, or had, the beginning of its reply: of one they have nothing of the whole is kept."""
        reply = self._replies.get(line.sentence.key)
        return reply is not None and (line.sentence.key in self._begun or bool(reply.already)) and not line.is_sign

    def _leave_for_later(self, line: Line) -> None:
        """End a sentence at ears that are away: what may be in their hands counts as said, it would be said twice.

        The rest of the reply counts so too, and is handed to `file` behind that, when they are back.
        """
        is_kept = line.may_be_there or line.comes_later
        if is_kept:
            self._unsure.append(line)
        heard = line.sentence.text if is_kept else ""
        line.report = self._report(line, "cut" if heard else "dropped", heard)

    def ask_about(self, sentence: SpokenSentence, event: Event, until: datetime) -> None:
        """Take that an earlier start committed a sentence, and nobody knows what became of it."""
        self._unsure.append(Line(sentence, event, until=utc_text(until), may_be_there=True))

    async def back(self) -> None:
        """Ask the ears what became of the sentences that they had when they went away; keep what they never began.

        Raises `EngineFailure`, `StateUnusable`.
        """
        while self._unsure:
            line = self._unsure[0]
            if line.may_be_there:
                report = await self._way.ask(self._message(line))
                if report is None or report.state not in ENDED:
                    return  # it is being said now: asked for again with the next look
                is_unsaid = report.state in {"late", "dropped"}
            else:
                is_unsaid = line.comes_later
            self._unsure.popleft()
            if is_unsaid and line.event is not None and not line.is_sign:
                log.info("sentence_kept_for_later", event_id=line.event.id, number=line.sentence.number)
                await self._file(line.event, line.sentence.text)

    def came(self) -> None:
        """Take that the ears are there, and have what belongs before anything new."""
        self._free.set()

    @property
    def _in_hand(self) -> int:
        """How many sentences are committed and have not ended."""
        return sum(not each.is_end for each in self._sent)

    def loops(self) -> Mapping[str, Loop]:
        """Return what commits and sends, until cancelled."""
        return {"machine: sentences, committed": self._commit_all, "machine: sentences, sent": self._send_all}

    async def _queue(self, line: Line) -> None:
        self._open.append(line)
        try:
            await self._waiting.put(line)
        except asyncio.CancelledError:
            self._open.remove(line)
            raise

    async def _commit_all(self) -> None:
        while True:
            await self._commit(await self._waiting.get())

    async def _commit(self, line: Line) -> None:
        while not (line.is_given_up or (self._way.is_known and self._in_hand < AHEAD)):
            self._free.clear()
            await self._free.wait()
        if line not in self._open or line.report is not None:
            return  # it ended while it waited
        if not self._way.is_there:
            line.comes_later = not line.is_given_up and not line.is_end and self._is_rest(line)
            line.give_up()
        if not line.is_end and not line.is_given_up:
            try:
                for observer in self._observers:
                    await observer.sentence_started(line.sentence)
            except AudioError as error:
                log.warning("sentence_not_sent", number=line.sentence.number, reason=str(error))
                line.give_up()
        line.until = utc_text(self._now() + BEGINS_WITHIN)
        self._sent.append(line)
        if line.is_given_up and not line.is_end:
            self._leave_for_later(line)
            await self._end_first()
        self._changed.set()

    async def _send_all(self) -> None:
        while True:
            self._changed.clear()
            await self._send()
            nothing = not self._sent and not self._is_to_stop
            await until_set(self._changed, None if nothing else AGAIN_SECONDS)

    async def _send(self) -> None:
        """Send what is due, in order; what does not arrive keeps back all behind it."""
        try:
            if self._is_to_stop:
                await self._way.ask(Stop(self._way.epoch))
                self._is_to_stop = False
            for line in list(self._sent):
                is_due = self._clock() - line.asked_at >= AGAIN_SECONDS
                if line.report is None and is_due and not await self._send_one(line):
                    return
        except EngineFailure as error:
            log.debug("ears_not_reached", reason=str(error))

    async def _send_one(self, line: Line) -> bool:
        """Send a line; whether what is behind it may follow. Raises `EngineFailure`."""
        if line.is_given_up and not line.may_be_there and not line.is_end:
            line.report = self._report(line, "dropped")
            await self._end_first()
            return True
        line.asked_at, before = self._clock(), line.may_be_there
        line.may_be_there = True  # from here on, whatever becomes of this
        if line.sentence.key not in self._begun:
            self._begun.append(line.sentence.key)
        try:
            report = await self._way.ask(self._message(line))
        except NobodyServes:
            line.may_be_there = before
            raise
        if line.is_end:
            self._remove(line)
            return True
        if report is not None:
            await self.take(report)
        return line.is_taken

    def _message(self, line: Line) -> Sentence | End:
        spoken, epoch = line.sentence, self._way.epoch
        if line.is_end:
            return End(epoch, spoken.key, 0)
        event_id = line.event.id if line.event else spoken.key
        words = (spoken.text, spoken.language, line.until, line.is_sign)
        return Sentence(epoch, event_id, spoken.key, spoken.number, *words)

    async def _end_first(self) -> None:
        """Account for what has ended and has nothing open before it, in order."""
        async with self._accounting:
            while line := next((each for each in self._open if not each.is_end), None):
                if line.report is None:
                    return
                report = line.report
                self._remove(line)
                for observer in self._observers:
                    await observer.sentence_ended(line.sentence, report.heard, report.state == "heard")
                if self.current is None:
                    self._tell_speaking(False)

    def _remove(self, line: Line) -> None:
        if line in self._open:
            self._open.remove(line)
        if line in self._sent:
            self._sent.remove(line)
        self._free.set()

    def _report(self, line: Line, state: State, heard: str = "") -> Report:
        event_id = line.event.id if line.event else ""
        return Report("", event_id, line.sentence.key, line.sentence.number, state, heard)

    def _tell_speaking(self, speaking: bool) -> None:
        for observer in self._observers:
            observer.speaking_changed(speaking)
