"""Who spoke, as people and the agent tell it: voices learnt and forgotten, names corrected wherever they were filed."""

import asyncio
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from time import monotonic
from typing import Final, TypeVar

import structlog
from msgspec import Struct, field

from agent.errors import ToolFailed
from agent.event import HOUSEHOLD, UNKNOWN, VOICE, Event, speaker_of
from agent.mailbox import table
from agent.record import step
from appliance.speakers.store import Sample, VoiceStore, named
from appliance.wiring.memory.state import State
from audio.loops import Loop
from audio.speakers.encoder import Vector
from audio.speakers.gallery import NOBODY, Guess, guess, nearness
from audio.speech import RecognizedTurn, Voice
from memory.errors import MemoryFailure
from memory.history.audit_record import Origin
from memory.history.writer import Writer
from memory.json_value import Json
from memory.state.journal import Stored
from memory.state.speakers import CORRECTED, SETTLED
from memory.state.tiers import TASK

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
        """Return what else the same voice said in this conversation, under its time: its event is not at hand."""
        now = self.clock()
        return [
            Sample(f"at {began:.3f}", each.voice.vector)
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


def _is_good(voice: Voice | None) -> bool:
    """Whether somebody may be known by it: one voice, long enough, and clear of the noise."""
    return voice is not None and voice.is_one and voice.seconds >= 1.0 and voice.snr_db >= 8.0


def _may_be(name: str, samples: Sequence[Sample], spoken: _Spoken) -> bool:
    """Whether an utterance may be of whoever is being learnt: like the others; the first, nobody's who is known."""
    if spoken.guess.name not in (name, UNKNOWN) and spoken.guess.is_sure:
        return False
    return not samples or nearness(spoken.voice.vector, [each.vector for each in samples]) >= SAME_PERSON


T = TypeVar("T")

log = structlog.get_logger()

LOOKED_AT: Final = 200
"""Of the newest corrections, those that a kill may have left half done are among."""

EARLIER: Final = 6
"""Events of a session among which what was said before is looked for."""

AGAIN_SECONDS: Final = 60.0
"""Between two tries to correct names in a graph that is away."""

LONGEST_QUOTE: Final = 60

_TOO_SHORT: Final = "too little of the voice was heard: it is learnt by the next sentences that {name} says here"
_NO_EVENT: Final = "it is not known what was said before this; give the event's id, as recall tells it"


class Speakers(Struct):
    """Acts for the tool `voice`, and keeps what follows of it in a loop of its own."""

    voices: Voices
    state: State
    writer: Writer | None
    """Of the household's graph; None without one."""
    wake: Callable[[], Awaitable[None]]
    """Starts the graph's store where it rests."""
    _arrived: asyncio.Queue[Event | None] = field(default_factory=lambda: asyncio.Queue(64))
    """Events to be learnt from; None asks for corrections to be finished. What does not fit is not learnt from."""

    def arrived(self, event: Event) -> None:
        """Take note of an event, as the mailbox's observer."""
        if event.is_from_person and not self._arrived.full():
            self._arrived.put_nowait(event)

    def loops(self) -> Mapping[str, Loop]:
        """Return what keeps voices that are learnt, and ends corrections that broke off."""
        return {"speakers: voices that are learnt, corrections that broke off": self.run}

    async def run(self) -> None:
        """Keep what is learnt, and finish what a kill or a store that was away left; until cancelled."""
        is_left = True
        while True:
            if is_left:
                is_left = not await self._finish()
            try:
                async with asyncio.timeout(AGAIN_SECONDS if is_left else None):
                    event = await self._arrived.get()
            except TimeoutError:
                continue
            is_left |= event is None
            try:
                if event is not None:
                    await self.voices.arrived(event)
            except OSError as error:
                log.warning("voice_not_kept", reason=str(error))
            event = None  # what was said is not kept while it waits for more

    async def learn(self, name: str, event: Event) -> str:
        """Keep the voice of whoever asked for it, and of their yes. Raises `ToolFailed`."""
        asked = await self._before(event)
        others = self.voices.guess_of(asked) if asked else None
        if others is not None and others.is_sure and others.name.casefold() != name.casefold():
            asked = None  # somebody known introduces somebody: whose voice it is comes next
        count = await _kept(self.voices.learn(name, *([asked] if asked else []), event))
        if not count:
            return _TOO_SHORT.format(name=name)
        return f"learnt by {count} utterances; what {name} says next in this conversation helps"

    async def who(self, event: Event) -> Json:
        """Return who speaks, and whose voices are known."""
        guess = self.voices.guess_of(event)
        name = guess.name if guess.is_sure or guess.name == UNKNOWN else f"perhaps {guess.name}"
        return {"speaker": speaker_of(event) or name, "known": [*await asyncio.to_thread(self.voices.store.known)]}

    async def forget(self, name: str, event: Event) -> str:
        """Keep nothing more of a voice; without a name, of the speaker's own. Raises `ToolFailed`."""
        name = name or speaker_of(event)
        if not name:
            raise ToolFailed("give the name: who speaks is not sure")
        if await _kept(self.voices.forget_voice(name)):
            return f"{name}'s voice is forgotten"
        raise ToolFailed(f"no voice is known as {name}")

    async def correct(self, name: str, event: Event, of: str = "") -> str:
        """Have somebody else have said an event, wherever it was filed. Raises `ToolFailed`."""
        meant = await self._event(of) if of else await self._before(event)
        if meant is None or meant.owner_key != HOUSEHOLD or not meant.is_from_person:
            raise ToolFailed(_NO_EVENT)
        name, was = await self.voices.called(name) or name, speaker_of(meant)
        both = [meant, *([event] if was and speaker_of(event) == was and event.id != meant.id else [])]
        written = 0
        for each in both:
            await self._note(each, name)
            is_kept = await _kept(self.voices.confirm(name, each))
        for correction in await self._open():
            written += await self._settled(correction)
        quote = meant.content if len(meant.content) <= LONGEST_QUOTE else f"{meant.content[:LONGEST_QUOTE]}…"
        told = f'"{quote}" was said by {name} now, not {was or UNKNOWN}; in the memory {written} values say so'
        voice = "" if is_kept or await self.voices.called(name) else f". {name}'s voice is not known yet"
        return f"{told}; what you concluded from who it was is yours to mend{voice}"

    async def _note(self, event: Event, name: str) -> None:
        """Write the correction down with the event's own name, in one transaction: all that follows comes of it."""
        body = {"speaker": name, "was": speaker_of(event)}
        publish = self.state.bus.in_transaction(step(CORRECTED, event, "", body))
        await publish(lambda connection: table.rename(connection, event.id, name))
        log.info("speaker_corrected", event_id=event.id)

    async def _open(self) -> list[Stored]:
        """Return the corrections that are not in the graph yet, oldest first."""
        found = await self.state.journal.entries(topic=(CORRECTED, SETTLED), newest=True, limit=LOOKED_AT)
        done = {each.body.get("of") for each in found if each.topic == SETTLED}
        return [each for each in found if each.topic == CORRECTED and each.id not in done and each.is_whole]

    async def _settled(self, correction: Stored) -> int:
        """Correct the name in the graph, then write down that it is done; return how many values. May be done twice."""
        count, body = 0, correction.body
        if self.writer is not None:
            await self.wake()
            names = (str(body.get("was") or ""), str(body.get("speaker") or ""))
            count = await relabelled(self.writer, correction.event_id, *names)
        done = Event(SETTLED, session_id=correction.session_id, metadata={"of": correction.id, "values": count})
        await self.state.bus.publish(done)
        return count

    async def _finish(self) -> bool:
        """Settle what is open; whether nothing is left."""
        try:
            for correction in await self._open():
                await self._settled(correction)
        except MemoryFailure as error:
            log.warning("speaker_not_corrected", reason=str(error))
            return False
        return True

    async def _before(self, event: Event) -> Event | None:
        """Return what a person said last in the event's session before it."""
        entries = await self.state.journal.entries(
            topic=TASK, session_id=event.session_id, owner_key=event.owner_key, newest=True, limit=EARLIER
        )
        for name in dict.fromkeys(entry.event_id for entry in reversed(entries) if entry.event_id != event.id):
            found = await self._event(name)
            if found is not None and found.is_from_person:
                return found
        return None

    async def _event(self, name: str) -> Event | None:
        filed = await self.state.mailbox.find(name)
        return filed.event if filed is not None and filed.event.content else None


async def _kept(keeping: Awaitable[T]) -> T:
    try:
        return await keeping
    except OSError as error:
        raise ToolFailed(f"the disk does not take it ({error.strerror})") from error


_BY: Final = re.compile(r"(?:`([^`]+)`|\b(\w+))\s*[:=]\s*\$(speaker|event)\b")
"""A property that a statement gives the speaker's name, or the event's id."""

_NODES: Final = "MATCH (n) WHERE n.{event} = $event AND n.{key} = $was SET n.{key} = $name"
_RELATIONSHIPS: Final = "MATCH ()-[r]->() WHERE r.{event} = $event AND r.{key} = $was SET r.{key} = $name"


async def relabelled(writer: Writer, event_id: str, was: str, name: str) -> int:
    """Put a name in the place of another in what was written because of an event; return how many values.

    The audit log tells which properties got the speaker's name (`$speaker`) beside the event's id (`$event`); a write
    that named only one of them cannot be found again. Every change is a write of its own, on behalf of the event, so
    that it is forgotten with it. May be done twice. Raises what `Writer.write` raises.
    """
    count = 0
    for event_key, key in await asyncio.to_thread(lambda: sorted(set(_named(writer, event_id)))):
        names = {"event": f"`{event_key}`", "key": f"`{key}`"}
        for statement in (_NODES, _RELATIONSHIPS):
            params = {"event": event_id, "was": was, "name": name}
            written = await writer.write(statement.format(**names), params, Origin(event_id))
            count += written.stats.get("propertiesSet", 0)
    return count


def _named(writer: Writer, event_id: str) -> Iterator[tuple[str, str]]:
    """Yield the properties of an event's writes: that of its id, and that of the speaker's name. Blocking."""
    for record in writer.audit.records():
        if record.kind == "attempt" and record.facts.get("event_id") == event_id and record.content is not None:
            found = [(quoted or plain, what) for quoted, plain, what in _BY.findall(str(record.content["cypher"]))]
            keys = {what: [key for key, each in found if each == what] for what in ("event", "speaker")}
            yield from ((event_key, key) for event_key in keys["event"] for key in keys["speaker"])
