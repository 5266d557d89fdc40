"""A chain of recognizers: the next hears where the one before fails, is late, or gives what hardly was said."""

import asyncio
import threading
import time
import zlib
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from contextvars import copy_context
from typing import Final, Never, TypeAlias, TypeVar

import structlog
from msgspec import Struct
from msgspec.structs import replace

from audio.backoff import Backoff
from audio.egress import SendsTo
from audio.errors import AudioError, RecognitionFailed, RecognizerAbsent
from audio.interfaces import Recognizer, RemoteRecognizer
from audio.speech import Transcript, Utterance
from audio.turns.evidence import is_to_be_heard_again, sounds_like_speech

log = structlog.get_logger()

FIRST_PAUSE_SECONDS: Final = 10.0
LONGEST_PAUSE_SECONDS: Final = 300.0
"""A recognizer's rest after one failure, doubled up to the longest: a person waits for each of them."""

PATIENCE_SECONDS: Final = 3.0
SECONDS_A_SECOND: Final = 0.5
"""For each second of sound a recognizer may take so much longer: what it sends, and what it decodes, grows with it."""

COSTLY_SECONDS: Final = 1.0
"""A failure that took so long is one that a person waits for."""

CLOSE_SECONDS: Final = 1.0
"""For whoever is heard to be done; their connections end with the process otherwise."""

CONNECT_SECONDS: Final = 1.5
"""For opening a connection ahead; who does not get one by then has not lost anything yet."""

Engine: TypeAlias = Recognizer | RemoteRecognizer

Answer = TypeVar("Answer")


class _Member(Struct):
    """A recognizer of the chain, and how it did."""

    engine: Engine
    breaker: Backoff
    was_late: bool = False
    """Whether its last failure cost time."""
    trouble: str = ""
    """Why it failed last; "" while it works."""

    def failed(self, error: AudioError, *, late: bool) -> None:
        rest = 0.0 if isinstance(error, RecognizerAbsent) else self.breaker.failed()
        self.was_late, self.trouble = late, str(error)
        log.warning("recognizer_failed", recognizer=self.engine.name, reason=self.trouble, rests_seconds=round(rest))

    def worked(self) -> None:
        self.breaker.worked()
        self.was_late, self.trouble = False, ""


def seconds_for(utterance: Utterance, patience: float) -> float:
    """Return how long a recognizer may take for it."""
    return patience + SECONDS_A_SECOND * utterance.seconds


class RecognizerChain:
    """A `Recognizer` over others, tried in order for each utterance. Safe from several threads: one at a time.

    Each has `patience` seconds, and half a second for each second of sound; then the next is asked, and what the late
    one was at is broken off, if it is a request. One that failed is left out for a while (`Backoff`), until all others
    have failed too. What hardly was said, by its own figures, or nothing at all, is not taken of somebody who clearly
    spoke before the next one has been asked as well. When nobody answers, the `last_resort` hears, made only then.
    """

    def __init__(
        self,
        engines: Sequence[Engine],
        last_resort: Callable[[], Recognizer],
        *,
        patience: float = PATIENCE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`engines` are not empty, the first to be asked first; `clock` gives the seconds for which one rests."""
        self._members = [
            _Member(each, Backoff(FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS, clock=clock)) for each in engines
        ]
        self._make_last_resort = last_resort
        self._last_resort: Recognizer | None = None
        self._patience = patience
        self._clock = clock
        self.name = engines[0].name
        """Of the one that took the last utterance; before any, of the first."""
        self._one = threading.Lock()
        self._runner: asyncio.Runner | None = None
        """What requests are made in, for as long as connections are kept."""
        self._request: asyncio.Task[object] | None = None
        """The one under way."""

    @property
    def sends_to(self) -> tuple[SendsTo, ...]:
        """What its members hand to other machines, each once."""
        return tuple(dict.fromkeys(sent for member in self._members for sent in member.engine.sends_to))

    def describe(self) -> Mapping[str, str]:
        """Return of each member by its name how it is: "ready", or why it is not asked, or was not of use."""
        return {
            each.engine.name: f"rests {each.breaker.rest:.0f} s: {each.trouble}"
            if each.breaker.rest
            else each.trouble or "ready"
            for each in self._members
        }

    def warm(self) -> None:
        """Load those of this machine and connect to the others. Blocking; what cannot be had is told, and left out."""
        with self._one:
            for member in self._members:
                try:
                    if isinstance(member.engine, RemoteRecognizer):
                        self._run(_connected(member.engine))
                    else:
                        member.engine.warm()
                except AudioError as error:
                    member.failed(error, late=False)

    def prewarm(self) -> None:
        """Open the connection that the next utterance will need; nothing while one is recognized. Blocking, short."""
        if not self._one.acquire(blocking=False):
            return
        try:
            first = next((member.engine for member in self._in_order()), None)
            if isinstance(first, RemoteRecognizer):
                with suppress(AudioError):  # which the utterance will find as well, and tell
                    self._run(_connected(first))
        finally:
            self._one.release()

    def transcribe(self, utterance: Utterance) -> Transcript:
        """Return the words. Blocking. Raises `RecognitionFailed` when nobody can hear, the last resort included."""
        with self._one:
            heard = self._best(utterance)
            self.name = heard.recognizer
            return heard

    def close(self) -> None:
        """Break off the request that is under way, and let the connections go. Blocking, short.

        Who waits for that request is heard by the next one; what comes after that opens new connections.
        """
        runner, task = self._runner, self._request
        if runner is not None and task is not None:
            runner.get_loop().call_soon_threadsafe(task.cancel)
        if self._runner is not None and self._one.acquire(timeout=CLOSE_SECONDS):
            try:
                self._run(self._part())
                self._runner.close()
                self._runner = None
            finally:
                self._one.release()

    def _best(self, utterance: Utterance) -> Transcript:
        doubted: Transcript | None = None
        for member in self._in_order():
            try:
                heard = self._ask(member, utterance)
            except AudioError:
                continue
            if heard.text and not is_to_be_heard_again(heard, utterance):
                return heard
            if not sounds_like_speech(utterance):
                return heard
            doubted = doubted if doubted is not None and doubted.text else heard
        if doubted is not None:
            return doubted
        if self._last_resort is None:
            self._last_resort = self._make_last_resort()
        return self._last_resort.transcribe(utterance)

    def _ask(self, member: _Member, utterance: Utterance) -> Transcript:
        """Return what one makes of it. Raises `AudioError` once its breaker knows."""
        seconds, engine, began = seconds_for(utterance, self._patience), member.engine, self._clock()
        try:
            if isinstance(engine, RemoteRecognizer):
                heard = self._run(_within(seconds, engine.recognize(utterance)))
            elif member is self._members[-1]:  # whom nobody follows who would be better
                heard = engine.transcribe(utterance)
            else:
                heard = self._run(_within(seconds, asyncio.to_thread(engine.transcribe, utterance)))
        except TimeoutError as error:
            late = RecognitionFailed(f"{engine.name} did not answer within {seconds:.1f} s")
            member.failed(late, late=True)
            raise late from error
        except asyncio.CancelledError as error:  # by `close`, in the chain's own event loop
            raise RecognitionFailed(f"{engine.name} was broken off") from error
        except AudioError as error:
            member.failed(error, late=self._clock() - began >= COSTLY_SECONDS)
            raise
        member.worked()
        heard = replace(heard, text=heard.text.encode(errors="replace").decode())  # half a character, as "?"
        return heard if "compression_ratio" in heard.evidence else _with_ratio(heard)

    def _in_order(self) -> list[_Member]:
        """Return whom to ask: those that do not rest, then those that failed at once, whom to try costs nothing."""
        resting = [each for each in self._members if each.breaker.rest]
        ready = [each for each in self._members if each not in resting]
        return [*ready, *(each for each in resting if not each.was_late)]

    def _run(self, asked: Coroutine[object, Never, Answer]) -> Answer:
        if self._runner is None:
            self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        return self._runner.run(self._followed(asked), context=copy_context())

    async def _followed(self, asked: Coroutine[object, Never, Answer]) -> Answer:
        self._request = asyncio.current_task()
        try:
            return await asked
        finally:
            self._request = None

    async def _part(self) -> None:
        for member in self._members:
            if isinstance(member.engine, RemoteRecognizer):
                await member.engine.aclose()


async def _within(seconds: float, asked: Coroutine[object, Never, Answer]) -> Answer:
    async with asyncio.timeout(seconds):
        return await asked


async def _connected(engine: RemoteRecognizer) -> None:
    try:
        await _within(CONNECT_SECONDS, engine.connect())
    except TimeoutError as error:
        raise RecognitionFailed(f"{engine.name} took no connection within {CONNECT_SECONDS:.1f} s") from error


def _with_ratio(heard: Transcript) -> Transcript:
    """Return it with the one figure of Whisper's that the words alone tell: how far they repeat."""
    text = heard.text.encode()
    ratio = {"compression_ratio": len(text) / len(zlib.compress(text))} if text else {}
    return replace(heard, evidence={**heard.evidence, **ratio})
