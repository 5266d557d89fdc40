"""Reflexes from ear to act: whoever hears the word first acts on it, once; the mind is told in its next block."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import structlog

from agent.tools.device import DeviceVerb
from appliance.reflexes.record import MOST_TOLD, Acted, How, ReflexRecord
from appliance.reflexes.verbs import Order, Verb, Verbs
from appliance.reflexes.voice import Voice
from appliance.reflexes.words import Forgot, forgotten, sentence
from appliance.timers.snooze import USUAL_MINUTES
from audio.loops import Loop
from audio.reflexes.spotter import Spotted, overlap
from audio.reflexes.words import NAMES, REFLEXES, asked, volume_asked
from audio.speech import RecognizedTurn, SpeechStarted
from memory.json_value import Json

log = structlog.get_logger()

AT_COMMIT: Final[frozenset[Verb]] = frozenset({"forget", "volume"})
"""What waits until the whole turn is known: it cannot be taken back, or a number may go on."""

MOST_WAITING: Final = 16
"""What may wait to be said, kept and journaled; past it the oldest is done without."""

SAME_SPEECH: Final = 0.6
"""Share of an utterance that a reflex has to fill, so that the utterance was nothing but that."""


@dataclass(frozen=True, slots=True)
class Wording:
    """Which words act, and what it is called."""

    active: Collection[str] = REFLEXES
    names: Collection[str] = NAMES


def _span(heard: RecognizedTurn) -> tuple[float, float]:
    return heard.utterance.started_at, heard.utterance.ended_at


Doubt: TypeAlias = Callable[[str, float, float], str]
"""Says why words between two moments of the source's clock were nobody's order, "" where they may have been one."""


def _put(waiting: asyncio.Queue[Acted], acted: Acted) -> None:
    """Queue behind the others; the oldest gives way where there are too many."""
    if waiting.full():
        log.warning("reflex_not_followed_up", reflex=waiting.get_nowait().reflex)
        waiting.task_done()
    waiting.put_nowait(acted)


class Reflexes:
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
        doubt: Doubt,
        forget: Callable[[], Awaitable[Forgot]],
    ) -> None:
        """`forget` removes what was just heard, and returns how that went."""
        self._body = body
        self._voice = voice
        self._record = record
        self._wording = wording
        self._doubt = doubt
        self._forget = forget
        self._acted: deque[Acted] = deque(maxlen=MOST_TOLD)
        self._unkept: asyncio.Queue[Acted] = asyncio.Queue(MOST_WAITING)
        self._unanswered: asyncio.Queue[Acted] = asyncio.Queue(MOST_WAITING)
        self.doubted: dict[str, int] = {}
        """Words that were not acted on, by reason."""
        self.counts: dict[str, int] = {}
        """Reflexes since the start, by name."""

    def spotted(self, spotted: Spotted) -> None:
        """Act on a word the spotter found."""
        self._hear(Order(spotted.reflex), spotted.words, "spotted", (spotted.started_at, spotted.ended_at))

    def speech_started(self, started: SpeechStarted) -> None:
        """Nothing is known yet."""

    def words_so_far(self, heard: RecognizedTurn) -> None:
        """Act on words recognized ahead, at their soft end."""
        words = heard.transcript.text
        if order := self._asked(words):
            self._hear(order, words, "recognized", _span(heard))

    def turn_ended(self, heard: RecognizedTurn | None, suppressed: str) -> None:
        """Nothing is left to do: `take` was asked before."""

    async def take(self, heard: RecognizedTurn) -> bool:
        """Return whether these words were a reflex and no more; act where nobody has yet."""
        words = heard.transcript.text
        if self._body.ringer is not None and await self._body.ringer.take(words):
            return True
        if self._has_acted(_span(heard)):
            return True
        order = self._asked(words)
        return order is not None and self._hear(order, words, "committed", _span(heard))

    async def typed(self, words: str) -> str:
        """Act on typed words; return the sentence that answers them, "" where the mind should."""
        ringer = self._body.ringer
        if ringer is not None and await ringer.take(words):
            return self._sentence("silenced", words)
        order = self._asked(words)
        if order is None or order.verb == "repeat" or (order.verb == "stop" and not self._body.is_sounding):
            return ""
        return await self.told(order, words, "typed")

    async def told(self, order: Order, words: str = "", how: How = "door") -> str:
        """Act for somebody who is no voice; return the sentence that says what came of it, durable where it lasts."""
        now = self._record.clock()
        if order.verb == "forget" and how != "tool":  # which means the turn in hand: that goes when its run has ended
            return forgotten(await self._forget(), self._voice.language, words)
        if order.verb == "snooze":
            return await self._snooze(order.minutes, words)
        did = self._act(order, words, how, (now, now))
        if order.verb in {"mute", "unmute"}:
            await self._keep_mute()
        return self._sentence(did, words)

    async def _snooze(self, minutes: float | None, words: str) -> str:
        """Let what rings be silent and ring again."""
        ringer, length = self._body.ringer, minutes or USUAL_MINUTES
        if ringer is None or not await ringer.snooze(length, words or "snooze"):
            return ""
        return sentence("snoozed", self._voice.language, words, minutes=f"{length:g}")

    def loops(self) -> Mapping[str, Loop]:
        """Return what does afterwards, in order, what an act brings along."""
        return {
            "reflexes: kept and journaled": self._keep_all,
            "reflexes: signs and sentences": self._answer_all,
        }

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
            if acted.how == "tool" and acted.reflex not in {"repeat", "forget"}:
                continue  # the agent says so itself
            if acted.forgot is None:
                await self._voice.answer(acted.reflex, self._sentence(acted.did, acted.words))
                continue
            await self._voice.answer(acted.reflex, forgotten(acted.forgot, self._voice.language))
            if acted.forgot.drop:  # a voice keeps short sentences
                await acted.forgot.drop()

    def describe(self) -> dict[str, Json]:
        """Return the switches and what was done, for the status."""
        return {
            "muted": self._body.mute.is_on,
            "volume": self._body.mouth.volume.percent,
            "acted": dict(self.counts),
            "doubted": dict(self.doubted),
        }

    def _asked(self, words: str) -> Order | None:
        active, names = self._wording.active, self._wording.names
        if reflex := asked(words, active, names):
            return Order(reflex)
        percent = volume_asked(words, names) if "louder" in active and "quieter" in active else None
        return None if percent is None else Order("volume", percent)

    def _hear(self, order: Order, words: str, how: How, span: tuple[float, float]) -> bool:
        """Act on what was said, unless somebody has, it is too early, or it was no order; return whether it was."""
        if self._has_acted(span) or (order.verb in AT_COMMIT and how != "committed"):
            return False
        if reason := self._doubt(words, *span):
            self.doubted[reason] = self.doubted.get(reason, 0) + 1
            log.info("reflex_doubted", reflex=order.verb, reason=reason)
            return False
        return bool(self._act(order, words, how, span))

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
        self._acted.append(replace(acted, words=""))  # when it was said is all that is asked of it
        self.counts[reflex] = self.counts.get(reflex, 0) + 1
        log.info("reflex_acted", reflex=reflex, how=how, after_speech=round(acted.at - span[1], 3))
        _put(self._unkept, acted)
        return did

    async def _keeping(self, acted: Acted) -> Acted:
        """Make durable what lasts; return what was done, which for forgetting is known only now."""
        match acted.reflex:
            case "stop" if self._body.ringer is not None:
                await self._body.ringer.note(acted.words)
            case "quieter" | "louder" | "volume":
                volume, configured = self._body.mouth.volume.percent, self._body.configured_volume
                await self._body.kept.keep(volume=volume, volume_configured=configured)
            case "mute" | "unmute":
                await self._keep_mute()
            case "forget":
                forgot = await self._forget()
                acted = replace(acted, did=forgot.did, words="", forgot=forgot)
        await self._record.add(acted)
        log.info("reflex_kept", reflex=acted.reflex, did=acted.did)
        return acted

    async def _keep_mute(self) -> None:
        await self._body.kept.keep(muted=self._body.mute.is_on)

    def _sentence(self, did: str, words: str) -> str:
        if not did:
            return ""
        volume = self._body.mouth.volume.percent
        return sentence(did, self._voice.language, words, percent=volume)


@dataclass(frozen=True, slots=True)
class Device:
    """The verbs as the agent's tools reach them (`DeviceVerbs`): done as for a spoken word, kept and journaled."""

    reflexes: Reflexes
    verbs: Verbs

    async def set_volume(self, percent: int | None, change: int | None) -> int:
        """Set the volume, or change it; return the percent it is then."""
        volume = self.verbs.mouth.volume
        await self.reflexes.told(
            Order("volume", volume.percent + (change or 0) if percent is None else percent), how="tool"
        )
        return volume.percent

    async def act(self, verb: DeviceVerb, minutes: float | None = None) -> str:
        """Do it; return the sentence that says what came of it."""
        return await self.reflexes.told(Order(verb, minutes=minutes), how="tool")
