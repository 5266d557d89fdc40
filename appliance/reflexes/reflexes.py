"""Reflexes from ear to act: whoever hears the word first acts on it, once; the mind is told in its next block."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Mapping
from functools import partial
from typing import Final, Protocol

import structlog
from msgspec import Struct
from msgspec.structs import replace

from appliance.reflexes.record import ASKED_BACK, MOST_TOLD, Acted, How, ReflexRecord
from appliance.reflexes.verbs import Order, Verb, Verbs
from appliance.reflexes.voice import Voice
from appliance.reflexes.words import Forgot, forgotten, muted, sentence
from appliance.timers.words import USUAL_MINUTES
from audio.interfaces import TurnObserver
from audio.loops import Loop
from audio.reflexes.keyword_search import Spotted, overlap
from audio.reflexes.words import NAMES, REFLEXES, asked, volume_asked
from audio.speech import RecognizedTurn
from audio.turns.listener import REFLEX
from memory.json_value import Json

log = structlog.get_logger()

TO_BE_SURE: Final[frozenset[Verb]] = frozenset({"mute", "forget"})
"""What wants a second evidence when it is said: a word that was heard wrong would close the ears, or erase."""

AT_COMMIT: Final[frozenset[Verb]] = TO_BE_SURE | {"volume"}
"""What waits until the whole turn is known: it cannot be taken back by voice, or a number may go on."""

AT_ONCE: Final[frozenset[Verb]] = frozenset({"stop", "wait"})
"""What acts over its own voice on the first that is heard of it: a wrong one only makes it silent."""

HARMLESS: Final[frozenset[Verb]] = AT_ONCE | {"go on", "repeat"}
"""What acts on a guess: a wrong one makes it silent, or speak."""

AGAIN_WITHIN: Final = 15.0
"""Seconds after an order that was asked back in which the same order is sure."""

MOST_WAITING: Final = 16
"""What may wait to be said, kept and journaled; past it the oldest is done without."""

LONGEST: Final = 500
"""Characters of a reflex that is typed, with all courtesies; what is longer is for the mind."""

SAME_SPEECH: Final = 0.6
"""Share of an utterance that a reflex has to fill, so that the utterance was nothing but that."""


class Wording(Struct, frozen=True):
    """Which words act, and what it is called."""

    active: Collection[str] = REFLEXES
    names: Collection[str] = NAMES
    wake_word: str = ""
    """As it is said; "" where there is none."""


class OrderEvidence(Protocol):
    """What speaks for and against an order that was heard (`appliance.reflexes.doubts.Doubts`); times in seconds."""

    def __call__(self, words: str, started_at: float, ended_at: float) -> str:
        """Return why words between two moments of the source's clock were no order, "" where they may be one."""

    def is_over_own_voice(self, started_at: float) -> bool:
        """Whether anything of its own sounded since that moment."""

    def is_speech(self, heard: RecognizedTurn) -> bool:
        """Whether a turn, whole or so far, was speech at all."""

    def is_called(self, heard: RecognizedTurn) -> bool:
        """Whether its name or the wake word is in the turn."""

    def is_clear(self, heard: RecognizedTurn) -> bool:
        """Whether a turn was surely heard, and nothing of its own sounded in it."""

    def await_answer(self, now: float) -> None:
        """Take what is said next as said to it."""


def _put(waiting: asyncio.Queue[Acted], acted: Acted) -> None:
    """Queue behind the others; the oldest gives way where there are too many."""
    if waiting.full():
        log.warning("reflex_not_followed_up", reflex=waiting.get_nowait().reflex)
        waiting.task_done()
    waiting.put_nowait(acted)


class Reflexes(TurnObserver):
    """Acts on the event loop, in the call that tells of the word; what takes longer is done by `run`, in order.

    A `TurnObserver` (words recognized ahead act at the soft end), an intake reflex (`take`), and the spotter's target.
    Loss: of what is to be kept or answered the oldest, past `MOST_WAITING`; the act itself never waits.
    """

    def __init__(
        self,
        body: Verbs,
        voice: Voice,
        record: ReflexRecord,
        wording: Wording,
        evidence: OrderEvidence,
        forget: Callable[[str], Awaitable[Forgot]],
    ) -> None:
        """`forget` removes what was told last in a session, or heard last for "", and returns how that went."""
        self._body = body
        self._voice = voice
        self._record = record
        self._wording = wording
        self._evidence = evidence
        self._forget = forget
        self._acted: deque[Acted] = deque(maxlen=MOST_TOLD)
        self._unkept: asyncio.Queue[Acted] = asyncio.Queue(MOST_WAITING)
        self._unanswered: asyncio.Queue[Acted] = asyncio.Queue(MOST_WAITING)
        self._asked_back: tuple[Verb, float] = ("stop", float("-inf"))
        """The order that was last asked back, and when it had been said."""
        self._spotted: Spotted | None = None
        """A word that may only act with its whole turn, and was spotted in the one that is under way."""
        self.doubted: dict[str, int] = {}
        """Words that were not acted on, by reason."""
        self.counts: dict[str, int] = {}
        """Reflexes since the start, by name."""

    def spotted(self, spotted: Spotted) -> None:
        """Act on a word the spotter found; over its own voice only on one that silences it."""
        span = (spotted.started_at, spotted.ended_at)
        if self._may_be_early(spotted.reflex, span):
            self._hear(Order(spotted.reflex), spotted.words, "spotted", span)
        elif spotted.reflex in TO_BE_SURE and not self._evidence.is_over_own_voice(span[0]):
            self._spotted = spotted

    def words_so_far(self, heard: RecognizedTurn) -> None:
        """Act on words recognized ahead, at their soft end; over its own voice as on a word that was spotted."""
        words, span = heard.transcript.text, heard.utterance.span
        order = self._asked(words)
        if order is None or self._is_guess(order, heard) or not self._evidence.is_speech(heard):
            return  # the end of the turn decides: its words may be others, and its gate is asked before any reflex
        if self._may_be_early(order.verb, span) or (order.verb not in AT_COMMIT and self._evidence.is_called(heard)):
            self._hear(order, words, "recognized", span)

    def turn_ended(self, heard: RecognizedTurn | None, suppressed: str) -> None:
        """Ask back about a word spotted in quiet that was all of a turn of which the recognizer made nothing."""
        if heard is not None and suppressed not in {"", REFLEX}:
            self._take_spotted(heard)
        self._spotted = None

    def _take_spotted(self, heard: RecognizedTurn) -> bool:
        """Return whether the turn was the word spotted in it and no more; ask back, or act the second time."""
        spotted, span = self._spotted, heard.utterance.span
        if spotted is None or heard.transcript.confidence == "normal":
            return False
        if overlap((spotted.started_at, spotted.ended_at), span) < SAME_SPEECH * (span[1] - span[0]):
            return False
        order = Order(spotted.reflex)
        return self._hear(order, spotted.words, "committed", span, is_sure=self._is_said_again(order, heard))

    async def take(self, heard: RecognizedTurn) -> bool:
        """Return whether these words were a reflex and no more; act, or ask back, where nobody has yet."""
        words = heard.transcript.text
        if self._body.ringer is not None and await self._body.ringer.take(words):
            return True
        if self._has_acted(heard.utterance.span):
            return True
        order = self._asked(words)
        if order is None or (order.verb not in TO_BE_SURE and self._is_guess(order, heard)):
            return self._take_spotted(heard)  # else the mind asks back what was hard to hear
        is_sure = order.verb not in TO_BE_SURE or self._is_sure(order, heard)
        return self._hear(order, words, "committed", heard.utterance.span, is_sure=is_sure)

    async def typed(self, words: str, session: str = "") -> str:
        """Act on words typed in a session; return the sentence that answers them, "" where the mind should."""
        ringer = self._body.ringer
        if len(words) > LONGEST:
            return ""
        if ringer is not None and await ringer.take(words):
            return self._sentence("silenced", words)
        order = self._asked(words)
        if order is None or order.verb == "repeat" or (order.verb == "stop" and not self._body.is_sounding):
            return ""
        if order.verb == "forget":
            return forgotten(await self._forget(session), self._voice.language, words)
        return await self.told(order, words, "typed")

    async def told(self, order: Order, words: str = "", how: How = "door") -> str:
        """Act for somebody who is no voice; return the sentence that says what came of it, durable where it lasts."""
        now = self._record.clock()
        if order.verb == "forget":
            return forgotten(await self._forget(""), self._voice.language, words)
        if order.verb == "snooze":
            return await self._snooze(order.minutes, words)
        did = self._act(order, words, how, (now, now))
        if order.verb in {"mute", "unmute"}:
            await self._body.mute.keep()
        return self._sentence(did, words)

    async def _snooze(self, minutes: float | None, words: str) -> str:
        """Let what rings be silent and ring again."""
        ringer, length = self._body.ringer, minutes or USUAL_MINUTES
        if ringer is None or not await ringer.snooze(length, words or "snooze"):
            return ""
        return sentence("snoozed", self._voice.language, words, minutes=f"{length:g}")

    def forget_soon(self, forget: Callable[[], Awaitable[Forgot]]) -> None:
        """Have something forgotten for the agent, whose run has to end before; told aloud only where it failed."""
        now = self._record.clock()
        self._follow_up(Acted("forget", "forgotten", "", "tool", (now, now), now, forget=forget))

    def loops(self) -> Mapping[str, Loop]:
        """Return what does afterwards, in order, what an act brings along."""
        return {
            "reflexes: kept and journaled": self._keep_all,
            "reflexes: signs and sentences": self._answer_all,
            "reflexes: switches that the disk refused": self._body.kept.run,
            "reflexes: ends a mute by its time": partial(self._body.mute.run, partial(self._hear_again, "timed")),
        }

    def woken(self, at: float) -> None:
        """End a mute: the wake word was said."""
        self._hear_again("woken")

    def _hear_again(self, how: How) -> None:
        now = self._record.clock()
        self._act(Order("unmute"), "", how, (now, now))

    async def kept(self) -> None:
        """Return when all that was done so far is durable and journaled."""
        await self._unkept.join()

    async def _keep_all(self) -> None:
        while True:
            acted = await self._keeping(await self._unkept.get())
            _put(self._unanswered, acted)
            self._unkept.task_done()

    async def _answer_all(self) -> None:
        while True:
            acted = await self._unanswered.get()
            if acted.how == "tool" and acted.reflex != "repeat" and acted.did != "not forgotten":
                continue  # the agent says so itself
            if acted.did == ASKED_BACK:
                await self._voice.ask_back(self._sentence(f"{acted.reflex} {ASKED_BACK}", acted.words))
                continue
            if acted.forgot is None:
                await self._voice.answer(acted.reflex, self._sentence(acted.did, acted.words))
                continue
            await self._voice.answer(acted.reflex, forgotten(acted.forgot, self._voice.language))
            if acted.forgot.drop:  # a voice keeps short sentences
                await acted.forgot.drop()

    def describe(self) -> dict[str, Json]:
        """Return the switches and what was done, for the status."""
        until = self._body.mute.until
        return {
            "muted": self._body.mute.is_on,
            "muted_until": until.isoformat() if until else None,
            "volume": self._body.mouth.volume.percent,
            "acted": dict(self.counts),
            "doubted": dict(self.doubted),
        }

    def _asked(self, words: str) -> Order | None:
        active, names = self._wording.active, tuple(filter(None, (*self._wording.names, self._wording.wake_word)))
        if reflex := asked(words, active, names):
            return Order(reflex)
        percent = volume_asked(words, names) if "louder" in active and "quieter" in active else None
        return None if percent is None else Order("volume", percent)

    def _hear(self, order: Order, words: str, how: How, span: tuple[float, float], *, is_sure: bool = True) -> bool:
        """Act on what was said, unless somebody has or it was no order; return whether it was."""
        if self._has_acted(span):
            return False
        if reason := self._evidence(words, *span):
            self._note_doubt(order, reason)
            return False
        return bool(self._act(order, words, how, span)) if is_sure else self._ask_back(order, words, span)

    def _may_be_early(self, verb: Verb, span: tuple[float, float]) -> bool:
        """Whether a word may act before its turn is known: what does more than silence it does only in quiet."""
        return verb in AT_ONCE or (verb not in AT_COMMIT and not self._evidence.is_over_own_voice(span[0]))

    def _is_guess(self, order: Order, heard: RecognizedTurn) -> bool:
        """Whether it was too hard to hear for what it would do."""
        return order.verb not in HARMLESS and heard.transcript.confidence == "low"

    def _is_sure(self, order: Order, heard: RecognizedTurn) -> bool:
        """Whether there is a second evidence: it was said before, it is called in it, or the room was quiet."""
        if self._is_said_again(order, heard):
            return True
        is_called = self._evidence.is_called(heard) and heard.transcript.confidence == "normal"
        return is_called or self._evidence.is_clear(heard)

    def _is_said_again(self, order: Order, heard: RecognizedTurn) -> bool:
        """Whether it was asked back just before, and the question is over.

        Whoever was heard wrong says the same over its voice once more.
        """
        (verb, at), began = self._asked_back, heard.utterance.started_at
        is_again = verb == order.verb and 0.0 < began - at <= AGAIN_WITHIN
        return is_again and not self._evidence.is_over_own_voice(began)

    def _ask_back(self, order: Order, words: str, span: tuple[float, float]) -> bool:
        """Be silent, as for any words over its own voice, and ask for the order to be said again."""
        if self._body.is_sounding:
            self._body.stop()
        self._asked_back = (order.verb, span[1])
        self._evidence.await_answer(self._record.clock())
        self._note_doubt(order, ASKED_BACK)
        self._follow_up(Acted(order.verb, ASKED_BACK, words, "committed", span, self._record.clock()))
        return True

    def _note_doubt(self, order: Order, reason: str) -> None:
        self.doubted[reason] = self.doubted.get(reason, 0) + 1
        log.info("reflex_doubted", reflex=order.verb, reason=reason)

    def _has_acted(self, span: tuple[float, float]) -> bool:
        """Whether somebody acted on this very speech already."""
        needed = SAME_SPEECH * (span[1] - span[0])
        return any(overlap(acted.span, span) >= max(needed, 1e-6) for acted in self._acted)

    def _act(self, order: Order, words: str, how: How, span: tuple[float, float]) -> str:
        """Act; return the name of what was done, "" when there was nothing to act upon."""
        did, reflex = self._body.act(order, by_run=how == "tool"), order.verb
        if not did:
            return ""
        acted = Acted(reflex, did, words, how, span, self._record.clock())
        self.counts[reflex] = self.counts.get(reflex, 0) + 1
        log.info("reflex_acted", reflex=reflex, how=how, after_speech=round(acted.at - span[1], 3))
        self._follow_up(acted)
        return did

    def _follow_up(self, acted: Acted) -> None:
        """Have it kept, journaled and answered; the same speech is done with."""
        self._acted.append(replace(acted, words=""))  # when it was said is all that is asked of it
        _put(self._unkept, acted)

    async def _keeping(self, acted: Acted) -> Acted:
        """Make durable what lasts; return what was done, which for forgetting is known only now."""
        match acted.reflex:
            case _ if acted.did == ASKED_BACK:
                pass
            case "stop" if self._body.ringer is not None:
                await self._body.ringer.note(acted.words)
            case "quieter" | "louder" | "volume":
                volume, configured = self._body.mouth.volume.percent, self._body.configured_volume
                await self._body.kept.keep(volume=volume, volume_configured=configured)
            case "mute" | "unmute":
                await self._body.mute.keep()
            case "forget":
                forgot = await (acted.forget() if acted.forget else self._forget(""))
                acted = replace(acted, did=forgot.did, words="", forgot=forgot)
        await self._record.add(acted)
        log.info("reflex_kept", reflex=acted.reflex, did=acted.did)
        return acted

    def _sentence(self, did: str, words: str) -> str:
        if not did:
            return ""
        if did == "muted":
            return muted(self._body.mute.minutes, self._wording.wake_word, self._voice.language, words)
        volume = self._body.mouth.volume.percent
        return sentence(did, self._voice.language, words, percent=volume)
