"""Names for what is heard: by the voices that people let nakari keep, of which the newest utterances are at hand."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import Final

import structlog
from msgspec import Struct, field

from agent.event import VOICE, Event
from appliance.speakers.store import Sample, VoiceStore, named
from audio.speakers.encoder import Vector
from audio.speakers.gallery import NOBODY, UNKNOWN, Guess, guess, nearness
from audio.speech import RecognizedTurn, Voice
from memory.json_value import Json

log = structlog.get_logger()

MOST_RECENT: Final = 32
"""Utterances whose voices are at hand, in memory only."""

A_CONVERSATION: Final = 120.0
"""Seconds without speech that end it."""

ENOUGH: Final = 3
"""Utterances by which somebody is known well; so many more are taken from what they say next."""

SAME_PERSON: Final = 0.45
"""Nearness from which two utterances of one conversation count as one person's while a voice is learnt."""


class _Spoken(Struct, frozen=True):
    at: float
    voice: Voice
    guess: Guess


class Voices(Struct):
    """The voices of a box. On the event loop, but for `look`; whoever touches the disk does it in a thread."""

    store: VoiceStore
    clock: Callable[[], float] = monotonic
    _recent: OrderedDict[float, _Spoken] = field(default_factory=OrderedDict)
    """By when the speech began, on the clock of the ears, as the event's `timing` tells too."""
    _known: Mapping[str, tuple[Sample, ...]] = {}
    """Who was known when somebody was last listened to."""
    _learning: tuple[str, float] | None = None
    """Whose voice is being learnt in this conversation, and when they last spoke."""

    def look(self) -> None:
        """See who is known now, for the `marks` of what is being listened to. Blocking."""
        self._known = self.store.known()

    def marks(self, heard: RecognizedTurn) -> dict[str, Json]:
        """Return what the voice says of who spoke, for the event's evidence; nothing of the voice itself."""
        voice, known = heard.transcript.voice, self._known
        found = guess(voice, {name: [each.vector for each in samples] for name, samples in known.items()})
        if voice is not None:
            self._recent[heard.utterance.started_at] = _Spoken(self.clock(), voice, found)
            while len(self._recent) > MOST_RECENT:
                self._recent.popitem(last=False)
        if not known:
            return {}
        return {VOICE: {"name": found.name, "margin": found.margin, "sure": found.is_sure}}

    def guess_of(self, event: Event) -> Guess:
        """Return who said the words of an event, by their voice."""
        spoken = self._spoken(event)
        return spoken.guess if spoken else NOBODY

    def voice_of(self, event: Event) -> Voice | None:
        """Return the voice of an event, as long as it is at hand."""
        spoken = self._spoken(event)
        return spoken.voice if spoken else None

    async def learn(self, name: str, *events: Event) -> int:
        """Keep the voice of these events as somebody's, with what the same voice said before; return how many are kept.

        What they say next in this conversation is kept too, until there are enough; where none of these events is fit,
        it begins with the next utterance of nobody known. Raises OSError.
        """
        name = await self.called(name) or name.strip()
        self._learning = (name, self.clock())
        spoken = [(event, voice) for event in events if (voice := self.voice_of(event)) is not None and _is_good(voice)]
        if not spoken:
            return 0
        kept = [Sample(event.id, voice.vector) for event, voice in spoken]
        before = self._same([voice.vector for _, voice in spoken], {_began(event) for event, _ in spoken})
        await asyncio.to_thread(self.store.add, name, *before[-ENOUGH:], *kept)
        log.info("voice_learnt", samples=len(kept) + len(before[-ENOUGH:]))
        return len((await asyncio.to_thread(self.store.known))[name])

    def _same(self, vectors: list[Vector], besides: set[float | None]) -> list[Sample]:
        """Return what else the same voice said in this conversation."""
        now = self.clock()
        return [
            Sample(_id(began), each.voice.vector)
            for began, each in self._recent.items()
            if began not in besides
            and now - each.at <= A_CONVERSATION
            and _is_good(each.voice)
            and nearness(each.voice.vector, vectors) >= SAME_PERSON
        ]

    async def arrived(self, event: Event) -> None:
        """Take a further utterance of whoever is being learnt. Raises OSError."""
        spoken = self._spoken(event)
        if self._learning is None or spoken is None:
            return
        name, at = self._learning
        samples = (await asyncio.to_thread(self.store.known)).get(name, ())
        if len(samples) >= ENOUGH or spoken.at - at > A_CONVERSATION:
            self._learning = None
        elif _is_good(spoken.voice) and _may_be(name, samples, spoken):
            await asyncio.to_thread(self.store.add, name, Sample(event.id, spoken.voice.vector))
            self._learning = (name, spoken.at)

    async def called(self, name: str) -> str:
        """Return the name under which somebody is known, whatever its case; "" where nobody is."""
        return named(name, await asyncio.to_thread(self.store.known))

    async def confirm(self, name: str, event: Event) -> bool:
        """Take it that somebody known said this: their voice is known better; whether it could be told.

        Whoever else it was taken for loses it. Raises OSError.
        """
        voice, known = self.voice_of(event), await self.called(name)
        if known and voice is not None and _is_good(voice):
            await asyncio.to_thread(self.store.add, known, Sample(event.id, voice.vector))
            return True
        await asyncio.to_thread(self.store.drop, event.id)
        return False

    async def forget_voice(self, name: str) -> bool:
        """Keep nothing of somebody's voice; whether it was known. Raises OSError."""
        self._learning = None
        return await asyncio.to_thread(self.store.forget, name)

    def forget(self) -> None:
        """Let go of what was just heard, as a `HoldsWords`: what people let it keep stays."""
        self._recent.clear()
        self._learning = None

    def _spoken(self, event: Event) -> _Spoken | None:
        began = _began(event)
        return None if began is None else self._recent.get(began)


def _began(event: Event) -> float | None:
    timing = event.metadata.get("timing")
    began = timing.get("speech_started") if isinstance(timing, dict) else None
    return float(began) if isinstance(began, int | float) else None


def _id(began: float) -> str:
    """Return what an utterance is kept under whose event is not at hand."""
    return f"at {began:.3f}"


def _is_good(voice: Voice | None) -> bool:
    """Whether somebody may be known by it: one voice, long enough, and clear of the noise."""
    return voice is not None and voice.is_one and voice.seconds >= 1.0 and voice.snr_db >= 8.0


def _may_be(name: str, samples: Sequence[Sample], spoken: _Spoken) -> bool:
    """Whether an utterance may be of whoever is being learnt: like the others; the first, nobody's who is known."""
    if spoken.guess.name not in (name, UNKNOWN) and spoken.guess.is_sure:
        return False
    return not samples or nearness(spoken.voice.vector, [each.vector for each in samples]) >= SAME_PERSON
