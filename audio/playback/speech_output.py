"""Speech output: synthesizes the next sentence while the one before plays, and accounts for each."""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Final, Protocol

from audio.errors import AudioError
from audio.interfaces import Player, Synthesizer
from audio.loops import Loop
from audio.playback.queued_sentence import QueuedSentence, SpokenSentence
from audio.playback.volume import Volume
from audio.speech import SpeechAudio

__all__ = ["Speaks", "SpeechObserver", "SpeechOutput", "SpokenSentence"]

MOST_WAITING: Final = 64
"""Sentences said and not yet begun to be made; past it `say` waits."""

LOOK_AHEAD: Final = 2
"""Sentences made, or being made, while another one plays."""

LONGEST_HOLD: Final = 3.0
"""Seconds that an announcement waits for a pause to end, before it ends the pause: a timer has to ring."""

LONGEST_PAUSE: Final = 300.0
"""Seconds after which nobody waits for the rest any more: it is dropped, and what comes next is heard."""

LOOK_SECONDS: Final = 1.0
"""How often an announcement that waits looks for how long it was paused."""

PERSON: Final = "a person"
"""Who pauses it by asking for it."""


class SpeechObserver:
    """Follows what is spoken; override what is wanted. Told on the event loop; what it raises ends the playback loop.

    Of announcements told only in `announced`, and of those that fail.
    """

    async def sentence_started(self, sentence: SpokenSentence) -> None:
        """Take a sentence whose first sample goes to the player as soon as every observer has returned."""

    def first_sound(self, sentence: SpokenSentence, at: float, made_at: float | None = None) -> None:
        """Take the moments, in seconds on the output's clock, of its first sound: in the room, and from the voice.

        `made_at` is None where that is another machine's.
        """

    def sentence_failed(self, sentence: SpokenSentence, reason: str) -> None:
        """Take why a sentence could not be said whole; told before its end."""

    async def sentence_ended(self, sentence: SpokenSentence, heard: str, whole: bool) -> None:
        """Take the end of a sentence, after its last sample: what was heard of it, and whether that was all."""

    def announced(self, sentence: SpokenSentence, at: float, ended_at: float) -> None:
        """Take that the words of an announcement begin to sound, with an infinite end; told again with their end.

        Both in seconds on the output's clock.
        """

    def speaking_changed(self, speaking: bool) -> None:
        """Take that there is something to say, before its first sound, or that all of it has ended."""


class Speaks(Protocol):
    """Whatever can be followed while it speaks."""

    def observe(self, observer: SpeechObserver) -> None:
        """Tell one more observer, behind those that are told already; for good."""


class SpeechOutput:
    """Speaks sentences one after the other, in the order of `say`.

    Every sentence that was said ends exactly once, in order (`SpeechObserver.sentence_ended`); before that, unless it
    was hushed before its turn, it starts exactly once. The player must have been started, and remains its owner's to
    close.

    Whoever pauses it holds it: it goes on when the last one lets go, or is hushed. No sentence starts meanwhile.
    """

    def __init__(
        self,
        synthesizer: Synthesizer,
        player: Player,
        clock: Callable[[], float] = time.monotonic,
        *,
        volume: int = 100,
    ) -> None:
        self.voice = synthesizer
        """What makes its sound; its loops are among those of this."""
        self._clock = clock
        self._player = player
        self._observers: list[SpeechObserver] = []
        self._waiting: asyncio.Queue[QueuedSentence] = asyncio.Queue(MOST_WAITING)
        self._ready: asyncio.Queue[QueuedSentence] = asyncio.Queue(LOOK_AHEAD)
        self._open: list[QueuedSentence] = []
        """Everything said and not ended, in order; the first is the one that plays."""
        self._turn = asyncio.Lock()
        """Held while one sentence or one announcement has the player; whoever waits for it first has it next."""
        self._announced: QueuedSentence | None = None
        """The words of the announcement that has the turn."""
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._held_by: set[str] = set()
        self._held_since = 0.0
        """Seconds on the clock at which the pause began."""
        self._free, self._held = asyncio.Event(), asyncio.Event()
        """Set while nobody holds it, and while somebody does."""
        self._free.set()
        self._last_reply: dict[int, SpokenSentence] = {}
        """By number, for whoever asks to hear it again."""
        self.volume = Volume(player, volume)

    def observe(self, observer: SpeechObserver) -> None:
        """Tell one more observer, behind those that are told already; for good."""
        self._observers.append(observer)

    @property
    def current(self) -> SpokenSentence | None:
        """The sentence that plays or comes next; None when all that was said has ended."""
        return self._open[0].sentence if self._open else None

    @property
    def has_more(self) -> bool:
        """Whether something waits behind the current sentence."""
        return len(self._open) > 1

    @property
    def last_reply(self) -> tuple[SpokenSentence, ...]:
        """The sentences of the newest reply (of the newest `key` that is not ""), in order, heard or not."""
        return tuple(self._last_reply[number] for number in sorted(self._last_reply))

    @property
    def is_paused(self) -> bool:
        """Whether somebody holds it."""
        return bool(self._held_by)

    async def say(self, sentence: SpokenSentence) -> None:
        """Queue a sentence; waits while `MOST_WAITING` are waiting."""
        line = QueuedSentence(sentence, self._clock)
        if sentence.key:
            if any(kept.key != sentence.key for kept in self._last_reply.values()):
                self._last_reply.clear()
            self._last_reply[sentence.number] = sentence  # one that is repeated is in its place
        self._open.append(line)
        if self._quiet.is_set():
            self._quiet.clear()
            self._tell_speaking(True)
        try:
            await self._waiting.put(line)
        except asyncio.CancelledError:
            self._close(line)
            raise

    async def announce(
        self, sound: SpeechAudio, sentence: SpokenSentence, unless: Callable[[], bool] | None = None
    ) -> bool:
        """Play a sound and say a sentence after it, behind what plays now and before all that waits.

        Returns when it was heard or hushed; cancelled, it is silent at once. `unless` is asked when its turn has come:
        where it says so, nothing sounds, and False is returned.
        A pause does not silence it; one that cuts through a sentence delays it for about `LONGEST_HOLD`.
        """
        line = QueuedSentence(sentence, self._clock)
        async with self._interjecting():
            if unless is not None and unless():
                return False
            self._announced = line
            self._player.resume()
            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(line.make(self.voice), name="speech: an announcement's words")
                    await self._play_announced(sound, line)
            except asyncio.CancelledError:
                self._player.stop()
                raise
            finally:
                self._announced = None
        if line.failure:
            self._tell_failed(line)
        return True

    def pause(self, by: str = PERSON) -> None:
        """Be silent within one buffer of the device, until `by` lets go; what is announced sounds all the same."""
        if not self._held_by:
            self._held_since = self._clock()
        self._held_by.add(by)
        self._free.clear()
        self._held.set()
        if self._announced is None:
            self._player.pause()

    def resume(self, by: str = PERSON) -> None:
        """Let go; when nobody holds it any more it goes on exactly where it was."""
        self._held_by.discard(by)
        if not self._held_by:
            self._let_go()
            self._player.resume()

    def hush(self) -> None:
        """Be silent at once: drop all that was said so far and is not heard yet. `quiet` waits for the accounts.

        Nobody holds it afterwards, and it is not ducked.
        """
        dropped = self._player.stop()
        self._let_go()
        self.volume.unduck()
        if self._announced is not None:
            self._announced.give_up(dropped)
            dropped = 0.0
        for line in self._open:
            line.give_up(dropped)
            dropped = 0.0

    def forget(self) -> None:
        """Keep nothing of the last reply: nobody can hear it again."""
        self._last_reply.clear()

    async def quiet(self) -> None:
        """Return when everything that was said has ended."""
        await self._quiet.wait()

    def loops(self) -> Mapping[str, Loop]:
        """Return what speaks what is said, for ever."""
        return {
            "speech: synthesis, sentence after sentence": self._make_all,
            "speech: playback, in the order of the sentences": self._play_all,
            "speech: ends pauses that nobody ends": self._end_long_pauses,
            **self.voice.loops(),
        }

    async def _make_all(self) -> None:
        while True:
            line = await self._waiting.get()
            await self._ready.put(line)
            await line.make(self.voice)
            del line  # while this waits for the next one it would keep its words and sound alive

    async def _play_all(self) -> None:
        # No local variable holds the line: while this waits for the next one it would keep its words and sound alive.
        while True:
            await self._account_for(await self._ready.get())

    async def _account_for(self, line: QueuedSentence) -> None:
        await self._free.wait()  # before taking the turn: an announcement can have it meanwhile
        async with self._turn:
            try:
                await self._play(line)
            except AudioError as error:
                line.give_up(self._player.stop(), str(error))
        if line.failure:
            self._tell_failed(line)
        heard, whole = line.heard()
        for observer in self._observers:
            await observer.sentence_ended(line.sentence, heard, whole)
        self._close(line)

    async def _end_long_pauses(self) -> None:
        while True:
            await self._held.wait()
            try:
                async with asyncio.timeout(LONGEST_PAUSE):
                    await self._free.wait()
            except TimeoutError:
                self.hush()

    async def _play(self, line: QueuedSentence) -> None:
        """Play a sentence to its end, or until it is given up. Raises what the player raises."""
        piece = await line.pieces.get()
        await self._free.wait()
        if line.given_up:
            return
        for observer in self._observers:
            await observer.sentence_started(line.sentence)
        is_first = True
        while piece is not None and not line.given_up:
            began = self._clock()
            line.played(piece)
            await self._player.play(piece)
            if is_first and not line.given_up:
                begins = max(began, self._player.busy_until - len(piece.samples) / piece.sample_rate)
                for observer in self._observers:
                    observer.first_sound(line.sentence, begins, line.made_at)
            is_first = False
            piece = await line.pieces.get()
        await self._player.drain()

    async def _play_announced(self, sound: SpeechAudio, line: QueuedSentence) -> None:
        began = math.inf
        try:
            await self._player.play(sound)
            while (piece := await line.pieces.get()) is not None and not line.given_up:
                line.played(piece)
                if began == math.inf:
                    began = self._clock()
                    self._tell_announced(line, began)
                await self._player.play(piece)
            await self._player.drain()
        except AudioError as error:
            line.give_up(self._player.stop(), str(error))
        finally:
            self._tell_announced(line, began, self._clock())

    def _close(self, line: QueuedSentence) -> None:
        self._open.remove(line)
        if not self._open:
            self._quiet.set()
            self._tell_speaking(False)

    def _tell_speaking(self, speaking: bool) -> None:
        for observer in self._observers:
            observer.speaking_changed(speaking)

    def _tell_announced(self, line: QueuedSentence, began: float, ended: float = math.inf) -> None:
        if began < math.inf:
            for observer in self._observers:
                observer.announced(line.sentence, began, ended)

    def _tell_failed(self, line: QueuedSentence) -> None:
        for observer in self._observers:
            observer.sentence_failed(line.sentence, line.failure)

    def _let_go(self) -> None:
        self._held_by.clear()
        self._held.clear()
        self._free.set()

    @asynccontextmanager
    async def _interjecting(self) -> AsyncIterator[None]:
        """Have the turn, if need be by ending a pause of the sentence that has it."""
        while not await self._turn_comes():
            if self.is_paused and self._clock() - self._held_since >= LONGEST_HOLD:
                self._let_go()
                self._player.resume()
        try:
            yield
        finally:
            self._turn.release()

    async def _turn_comes(self) -> bool:
        """Take the turn, unless it does not come for `LOOK_SECONDS`."""
        try:
            async with asyncio.timeout(LOOK_SECONDS):
                return await self._turn.acquire()
        except TimeoutError:
            return False
