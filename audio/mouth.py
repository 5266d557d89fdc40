"""Sentences to sound: the next is made while the one before plays, and each is accounted for."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from audio.errors import AudioError
from audio.interfaces import Player, Synthesizer
from audio.line import Line, SpokenSentence
from audio.speech import SpeechAudio

__all__ = ["Mouth", "SpokenSentence"]

MOST_WAITING = 64
"""Sentences said and not yet begun to be made; past it `say` waits."""

LOOK_AHEAD = 2
"""Sentences made, or being made, while another one plays."""


async def _started(sentence: SpokenSentence) -> None:
    """Nobody wants to know."""


def _first_sound(sentence: SpokenSentence, at: float) -> None:
    """Nobody wants to know."""


async def _ended(sentence: SpokenSentence, heard: str, whole: bool) -> None:
    """Nobody wants to know."""


def _failed(sentence: SpokenSentence, reason: str) -> None:
    """Nobody wants to know."""


class Mouth:
    """Speaks sentences one after the other, in the order of `say`.

    Every sentence that was said ends exactly once, in order, with `on_ended`; before that, unless it was hushed before
    its turn, it starts exactly once with `on_started`. The callbacks may be set until `run` begins; what they raise
    ends `run`. The player must have been started, and remains its owner's to close.
    """

    def __init__(self, synthesizer: Synthesizer, player: Player, clock: Callable[[], float] = time.monotonic) -> None:
        self._synthesizer = synthesizer
        self._clock = clock
        self._player = player
        self.on_started: Callable[[SpokenSentence], Awaitable[None]] = _started
        """Awaited before the sentence's first sample goes to the player."""
        self.on_first_sound: Callable[[SpokenSentence, float], None] = _first_sound
        """Told the moment, in seconds on `time.monotonic`, at which the first sample leaves the loudspeaker."""
        self.on_ended: Callable[[SpokenSentence, str, bool], Awaitable[None]] = _ended
        """Awaited after the last sample left the loudspeaker, with what was heard and whether that was all."""
        self.on_failed: Callable[[SpokenSentence, str], None] = _failed
        """Told, before `on_ended`, why a sentence could not be said whole."""
        self._waiting: asyncio.Queue[Line] = asyncio.Queue(MOST_WAITING)
        self._ready: asyncio.Queue[Line] = asyncio.Queue(LOOK_AHEAD)
        self._open: list[Line] = []
        """Everything said and not ended, in order; the first is the one that plays."""
        self._turn = asyncio.Lock()
        """Held while one sentence or one announcement has the player; whoever waits for it first has it next."""
        self._announced: Line | None = None
        """The words of the announcement that has the turn."""
        self._quiet = asyncio.Event()
        self._quiet.set()

    async def say(self, sentence: SpokenSentence) -> None:
        """Queue a sentence; waits while `MOST_WAITING` are waiting."""
        line = Line(sentence)
        self._open.append(line)
        self._quiet.clear()
        try:
            await self._waiting.put(line)
        except asyncio.CancelledError:
            self._close(line)
            raise

    async def announce(self, sound: SpeechAudio, sentence: SpokenSentence) -> None:
        """Play a sound and say a sentence after it, behind what plays now and before all that waits.

        Returns when it was heard or hushed; cancelled, it is silent at once. Of the callbacks only `on_failed` is told.
        """
        line = Line(sentence)
        async with self._turn:
            self._announced = line
            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(line.make(self._synthesizer), name="mouth: an announcement's words")
                    await self._play_announced(sound, line)
            except asyncio.CancelledError:
                self._player.stop()
                raise
            finally:
                self._announced = None
        if line.failure:
            self.on_failed(sentence, line.failure)

    def hush(self) -> None:
        """Be silent at once: drop all that was said so far and is not heard yet. `quiet` waits for the accounts."""
        dropped = self._player.stop()
        if self._announced is not None:
            self._announced.give_up(dropped)
            dropped = 0.0
        for line in self._open:
            line.give_up(dropped)
            dropped = 0.0

    async def quiet(self) -> None:
        """Return when everything that was said has ended."""
        await self._quiet.wait()

    async def run(self) -> None:
        """Speak what is said, for ever."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._make_all(), name="mouth: synthesis")
            group.create_task(self._play_all(), name="mouth: playback")

    async def _make_all(self) -> None:
        while True:
            line = await self._waiting.get()
            await self._ready.put(line)
            await line.make(self._synthesizer)

    async def _play_all(self) -> None:
        while True:
            line = await self._ready.get()
            async with self._turn:
                try:
                    await self._play(line)
                except AudioError as error:
                    line.give_up(self._player.stop(), str(error))
            if line.failure:
                self.on_failed(line.sentence, line.failure)
            await self.on_ended(line.sentence, *line.heard())
            self._close(line)

    async def _play(self, line: Line) -> None:
        """Play a sentence to its end, or until it is given up. Raises what the player raises."""
        piece = await line.next_piece()
        if line.given_up:
            return
        await self.on_started(line.sentence)
        first = True
        while piece is not None and not line.given_up:
            await self._sound(line, piece, first=first)
            first = False
            piece = await line.next_piece()
        await self._player.drain()

    async def _play_announced(self, sound: SpeechAudio, line: Line) -> None:
        try:
            await self._player.play(sound)
            while (piece := await line.next_piece()) is not None and not line.given_up:
                line.played(piece)
                await self._player.play(piece)
            await self._player.drain()
        except AudioError as error:
            line.give_up(self._player.stop(), str(error))

    async def _sound(self, line: Line, piece: SpeechAudio, *, first: bool) -> None:
        now = self._clock()
        line.played(piece)
        await self._player.play(piece)
        if first and not line.given_up:
            begins = self._player.busy_until - len(piece.samples) / piece.sample_rate
            self.on_first_sound(line.sentence, max(now, begins))

    def _close(self, line: Line) -> None:
        self._open.remove(line)
        if not self._open:
            self._quiet.set()
