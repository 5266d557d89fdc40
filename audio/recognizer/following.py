"""Follows the open turn with a recognizer that streams, in a thread of its own: the loop that hears never waits."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import numpy as np
import structlog
from msgspec import Struct, field

from audio.errors import AudioError
from audio.interfaces import StreamingRecognizer, TurnStream
from audio.pcm import Samples
from audio.speech import PartialWords

log = structlog.get_logger()

Tell = Callable[[PartialWords], None]


class _Followed(Struct):
    """A turn and what of it was not taken yet: at most the longest turn there is."""

    loop: asyncio.AbstractEventLoop
    recognizer: StreamingRecognizer
    pending: deque[Samples] = field(default_factory=deque)
    """Appended to on the event loop, emptied in the thread."""
    stream: TurnStream | None = None
    is_at_work: bool = False
    """Whether the thread has it, or will."""
    is_lost: bool = False
    """Whether nobody could follow it."""


class Following:
    """Gives a turn's sound to a recognizer as it comes, and tells its words when they have changed.

    All methods are for the event loop and return at once, but `settled`. Order: as spoken. Loss: none; where the
    recognizer is slower than speech, its words come later. With no recognizer nothing is followed.
    """

    def __init__(self, recognizer: StreamingRecognizer | None, tell: Tell) -> None:
        """`tell` is called on the event loop, never after its turn has ended."""
        self._recognizer = recognizer
        self._tell = tell
        self._thread = ThreadPoolExecutor(1, "words-so-far")
        self._turn: _Followed | None = None
        self._last: _Followed | None = None
        """The turn before, for whoever makes a transcript of it."""
        self.words: PartialWords | None = None
        """Of the open turn so far; None before the first."""
        self.settled = asyncio.Event()
        """Set while all that came was taken, and told."""
        self.settled.set()

    def begin(self, samples: Iterable[Samples]) -> None:
        """Begin a turn with its pre-roll."""
        self.end()
        if self._recognizer is not None:
            self._turn = _Followed(asyncio.get_running_loop(), self._recognizer, deque(samples))
            self._work(self._turn)

    def take(self, samples: Samples) -> None:
        """Take the next samples of the turn, if one is open."""
        if self._turn is not None:
            self._turn.pending.append(samples)
            self._work(self._turn)

    def end(self) -> None:
        """End the turn: nothing is told of it any more. Its stream is kept until the next one ends, or `forget`."""
        if self._turn is not None:
            self._last, self._turn, self.words = self._turn, None, None

    def forget(self) -> None:
        """Keep nothing of the turn before."""
        self._last = None

    def _work(self, turn: _Followed) -> None:
        if turn.is_at_work or turn.is_lost:
            return
        turn.is_at_work = True
        self.settled.clear()
        self._thread.submit(self._take_pending, turn)

    def _take_pending(self, turn: _Followed) -> None:
        """Decode what waits, in the thread, and have it told."""
        words: PartialWords | None = None
        waiting: list[Samples] = []
        while turn.pending:
            waiting.append(turn.pending.popleft())
        try:
            if turn.stream is None:
                turn.stream = turn.recognizer.follow()
            if waiting:
                words = turn.stream.take(np.concatenate(waiting))
        except AudioError as error:
            turn.is_lost = True
            log.debug("turn_not_followed", reason=str(error))
        except BaseException as error:
            turn.is_lost = True
            log.exception("turn_not_followed", reason=str(error))
            raise
        finally:
            with suppress(RuntimeError):  # the loop is closed: nobody is to be told
                turn.loop.call_soon_threadsafe(self._taken, turn, words)

    def _taken(self, turn: _Followed, words: PartialWords | None) -> None:
        turn.is_at_work = False
        if words is not None and turn is self._turn and words != self.words:
            self.words = words
            self._tell(words)
        if turn.pending and turn is self._turn and not turn.is_lost:
            self._work(turn)
        else:
            self.settled.set()
