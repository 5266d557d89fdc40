"""The ears, put together: from the microphone to the mailbox, and what ends a reply for whoever speaks over it."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from functools import partial
from pathlib import Path

from msgspec import Struct

from agent.event import Event, utc_now
from appliance.api.parts import Part
from appliance.config.values import listed
from appliance.errors import Exit, Problem
from appliance.input.devices.devices import supervised
from appliance.input.devices.echo import calibrated
from appliance.input.ears import Ears, Followers
from appliance.input.event import Origin
from appliance.input.hearing.choose import Hearing, hearing_settings
from appliance.input.intake import Intake, TurnGate
from appliance.input.names import GraphNames, KnownNames, NameSource
from appliance.input.not_understood import Unanswered, understood_guard
from appliance.input.pending_turns import PendingTurns
from appliance.input.prewarm import LookAhead, Prewarm
from appliance.input.suppressed import SuppressedTurns
from appliance.output.interruption import Interruption
from appliance.recorder.recorder import FlightRecorder
from appliance.reflexes.reflexes import Reflexes
from appliance.reflexes.words import forgotten
from appliance.wiring.agent.agent import Agent
from appliance.wiring.environment import World
from appliance.wiring.memory.state import disk_of
from appliance.wiring.sound.output import Output
from appliance.wiring.sound.reflexes import Acting
from appliance.wiring.sound.speakers import SpeakerSide
from audio.capture.live import LiveMicrophone
from audio.capture.mute import MutedSource
from audio.echo.duplex import HalfDuplex
from audio.interfaces import AudioSource, ChunkWatcher, EchoGuard, Recognizer, WordVerifier
from audio.loops import Loop
from audio.playback.live import LivePlayer
from audio.reflexes.addressing import Addressing
from audio.reflexes.keyword_search import KeywordSearch
from audio.reflexes.spotter import Spotter
from audio.reflexes.wakeword import WakeWord
from audio.reflexes.words import asked
from audio.speech import RecognizedTurn
from audio.turns.endpointer import Endpointer
from audio.turns.evidence import evidence_guard
from audio.turns.listener import REFLEX, Listener, Surroundings
from audio.turns.vad import LateDetector
from memory.json_value import Json


class Input(Struct, frozen=True):
    """Everything that hears, and what acts beside the mind on what was heard."""

    ears: Ears | None
    """None without a microphone."""
    interruption: Interruption
    intake: Intake
    turns: PendingTurns
    """On their way into the mailbox."""
    acting: Acting
    spotter: Spotter | None
    """None where no word is looked for in sound."""
    names: Mapping[str, Loop]
    """What keeps the names fresh that the recognizer expects; empty where nothing hears."""
    recorder: FlightRecorder | None
    """None where the sound of no turn is kept."""

    @property
    def reflexes(self) -> Reflexes:
        """What acts at once."""
        return self.acting.reflexes

    def loops(self) -> Mapping[str, Loop]:
        """Return what hears, and what acts on it, until cancelled."""
        spotter = {} if self.spotter is None else {"reflexes: words spotted in sound": self.spotter.run}
        hearing = {**self.acting.echo.loops(), **spotter}
        return {
            **(self.ears.loops() if self.ears else {}),
            **({name: partial(self.ears.once_heard, loop) for name, loop in hearing.items()} if self.ears else {}),
            "ears: turns that the disk refused, to the mailbox": self.turns.run,
            "ears: goes on with a reply when it was nothing": self.interruption.run,
            **self.reflexes.loops(),
            "reflexes: the sign that it listens": self.acting.voice.show_listening,
            **self.names,
            **(self.recorder.loops() if self.recorder else {}),
        }

    async def calibrate(self) -> str:
        """Measure its echo; return the sentence that says what was found. Raises `Problem` where nothing could be."""
        is_deaf = self.ears is None or self.ears.is_deaf
        return await calibrated(self.acting.echo, is_muted=self.acting.verbs.mute.is_on, is_deaf=is_deaf)

    async def forget(self, last: int = 1, minutes: float | None = None, these: Collection[str] = ()) -> str:
        """Forget so many turns, or all of so many minutes, or these events; return the sentence that tells of it.

        Raises `Problem` where it could not forget all of it.
        """
        forgetting = self.acting.forgetting
        if these:
            forgot = await forgetting.these(these, minutes)
        elif minutes is None:
            forgot = await forgetting.last(last, typed=True)
        else:
            forgot = await forgetting.since(minutes)
        told = forgotten(forgot, self.acting.voice.language)
        if forgot.did == "not forgotten":
            raise await asyncio.to_thread(_not_forgotten, told, forgetting.state.journal.database.path.parent)
        return told

    async def would_forget(self, last: int = 1, minutes: float | None = None, about: str = "") -> list[Event]:
        """Return what `forget` would erase, or what was said with all of some words; the oldest first."""
        return await self.acting.forgetting.would_go(last, minutes, about)

    def describe(self) -> dict[str, Part]:
        """Return what each part says of itself in the status."""
        ears, echo = self.ears, self.acting.echo
        parts: dict[str, Part] = {"reflexes": self._describe_reflexes, "interruptions": self.interruption.describe}
        parts |= {"turns": self.acting.insight.usual, "recorder": self.acting.insight.recorded}
        if ears is None:
            return {"ears": lambda: {"source": "none"}, "loudspeaker": lambda: {"device": "none"}, **parts}
        return {
            "ears": lambda: {
                **ears.describe(),
                "waiting_for_disk": len(self.turns),
                "duplex": echo.describe(),
            },
            "loudspeaker": ears.devices.describe_loudspeaker,
            **parts,
        }

    def _describe_reflexes(self) -> dict[str, Json]:
        addressing = self.acting.addressing
        wake: dict[str, Json] = {"wake_word": addressing.wake_word or "none", "wakes": addressing.wakes}
        spotted = self.spotter is not None and self.spotter.ready.is_set()
        return {**self.reflexes.describe(), **wake, "spotted_in_sound": spotted}


class WordSide(Struct, frozen=True):
    """What makes words of sound, chosen before the mind is opened: it is loaded beside that."""

    hearing: Hearing
    recognizer: Recognizer
    """That of `hearing`, which may be loading already."""
    names: KnownNames
    """To be expected."""
    naming: Mapping[str, Loop]
    """What keeps them fresh; empty where nobody knows any."""


def word_side(
    world: World, source: AudioSource | None, known: GraphNames | None, home: NameSource | None
) -> WordSide | None:
    """Choose the recognizer and have it load from now on, if it does not yet; None where there is no microphone.

    One that may come later finds nothing loaded. `known` are the names of the memory, `home` those of the house; None
    without one. Raises `ModelNotFound` for a configured model folder that is none.
    """
    if source is None:
        return None
    names = KnownNames(*filter(None, (home, known)))
    hearing = world.environment.hearing(hearing_settings(world.config), names)
    is_missing = isinstance(source, LiveMicrophone) and bool(source.missing)
    recognizer = hearing.recognizer if is_missing else hearing.load()
    asked_for: dict[str, Loop] = {"ears: names that the memory is asked for": known.run} if known else {}
    naming = {"ears: names to be expected": names.run, **asked_for} if home or known else {}
    return WordSide(hearing, recognizer, names, naming)


def open_input(
    world: World, output: Output, acting: Acting, agent: Agent, words: WordSide | None, side: SpeakerSide | None
) -> Input:
    """Join everything from the microphone to the mailbox; nothing is heard before its loops run.

    `side` tells who speaks; None where nobody listens for that.
    """
    config, clock, speech = world.config, world.environment.clock, output.speech
    addressing, verbs, forgetting = acting.addressing, acting.verbs, acting.forgetting
    gate = TurnGate(
        mute=verbs.mute.guard,
        evidence=evidence_guard,
        own_words=output.own_words,
        addressing=addressing.guard,
        understood=understood_guard(config.ears.language),
    )

    def held_back(heard: RecognizedTurn) -> str:
        return gate(heard) or output.contest.dispute(heard) or _reflex(heard)

    interruption = Interruption(speech, output.voice, agent.loop.interrupt, acting.echo.guard, held_back, clock)
    turns = PendingTurns(world.spoken or world.state.mailbox, speech.say, config.ears.language)
    origin = Origin(room=config.ears.room)
    most, take = config.economy.asr_transcript, acting.reflexes.take
    marks = _marks(addressing, side)
    intake = Intake(turns, most, gate, interruption.guard, output.contest, take, marks, clock, origin)
    forgetting.empties(speech, output.own_words, output.arbiter, agent.recalled)
    source = acting.source
    if source is None or words is None:
        return Input(None, interruption, intake, turns, acting, None, {}, None)
    hearing, recognizer, names = words.hearing, words.recognizer, words.names
    prewarm = Prewarm(_warming(agent, hearing), clock)
    ahead = LookAhead(partial(agent.recalled.look_ahead, owner_key=origin.owner_key))
    followers = _followers(world, output, acting, interruption, prewarm, ahead)
    recordings, turns_kept = acting.insight.recordings, config.recorder.turns
    recorder = FlightRecorder(recordings, config.ears, acting.guard, clock, names) if turns_kept else None
    guard = acting.guard if recorder is None else recorder
    load = partial(world.environment.detector, acting.echo.guard.is_plain)
    listener = Listener(
        MutedSource(source, verbs.mute, _wakes_muted(output, acting)),
        LateDetector(load) if isinstance(source, LiveMicrophone) and source.missing else load(),
        Endpointer(config.ears.commit_silence),
        side.heard_by(recognizer) if side else recognizer,
        intake,
        _around(output, guard, clock, hearing),
    )
    devices = supervised(source, output.player, speech, config.ears.language, output.lull)
    ears = Ears(listener, hearing, followers, devices, output.turns.activity, clock)
    output.company.listen_by(lambda: not ears.is_deaf)
    spotter = _spotter(world, acting, source, hearing.verifier)
    wake = [WakeWord(addressing.wake_word, addressing.wake, acting.voice.woken.set)] if addressing.wake_word else []
    listener.watch(ears.arrived, acting.echo.guard, interruption, *([spotter] if spotter else []), *wake)
    followers.follow(listener)
    listener.observe(output.contest, output.recognizing, output.turns)
    if recorder is not None:
        _record(recorder, listener, output, interruption, world)
        forgetting.empties(recorder)
    forgetting.empties(listener, followers.suppressed, *([spotter] if spotter else []))
    return Input(ears, interruption, intake, turns, acting, spotter, words.naming, recorder)


def _around(output: Output, guard: EchoGuard, clock: Callable[[], float], hearing: Hearing) -> Surroundings:
    speech = output.speech
    return Surroundings(
        guard,
        clock,
        output.turns.activity,
        may_rest=lambda: speech.current is None,
        recognizing=output.recognizing.room,
        streaming=hearing.streaming,
    )


def _marks(addressing: Addressing, side: SpeakerSide | None) -> Callable[[RecognizedTurn], Mapping[str, Json]]:
    if side is None:
        return addressing.marks
    voices = side.voices
    return lambda heard: {**addressing.marks(heard), **voices.marks(heard)}


def _followers(
    world: World, output: Output, acting: Acting, interruption: Interruption, prewarm: Prewarm, ahead: LookAhead
) -> Followers:
    clock, voice, language = world.environment.clock, acting.voice, world.config.ears.language
    return Followers(
        acting.reflexes,
        interruption,
        prewarm,
        ahead,
        SuppressedTurns(world.state.bus, utc_now, Origin(room=world.config.ears.room), output.contest.told),
        Unanswered(voice.give, output.speech.say, acting.addressing.is_open, language, clock),
    )


def _warming(agent: Agent, hearing: Hearing) -> Callable[[], Awaitable[None]]:
    """Return what opens the connections that words will need, at once, and makes what an answer is read with."""

    async def warm() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(asyncio.to_thread(hearing.prewarm), name="ears: the recognizer's connection")
            await agent.warm()

    return warm


def _record(
    recorder: FlightRecorder, listener: Listener, output: Output, interruption: Interruption, world: World
) -> None:
    recorder.follow(listener)
    interruption.observe(recorder.reply_changed)
    world.state.mailbox.observe_arrivals(recorder.filed)
    if isinstance(output.player, LivePlayer):
        output.player.tap(recorder.played)


def _wakes_muted(output: Output, acting: Acting) -> ChunkWatcher | None:
    """Return what hears the wake word alone while it is muted, and not from its own loudspeaker."""
    addressing = acting.addressing
    if not addressing.wake_word:
        return None

    def wake(at: float) -> None:
        acting.reflexes.woken(at)
        addressing.wake(at)

    word, own_sound = WakeWord(addressing.wake_word, wake), HalfDuplex(lambda: output.player.busy_until)
    return lambda chunk, probability, covered: word(chunk, probability, covered or own_sound.covers(chunk))


def _reflex(heard: RecognizedTurn) -> str:
    """Return `REFLEX` for words that are one: they act by themselves, and end no reply as words."""
    return REFLEX if asked(heard.transcript.text) else ""


def _spotter(world: World, acting: Acting, source: AudioSource, verifier: WordVerifier | None) -> Spotter | None:
    """Return what looks for words in sound, where there is a clock to act by, and English to hear."""
    settings, language = world.config.reflexes, world.config.ears.language
    if not (settings.enabled and language in {"", "auto", "en"} and source.is_live):
        return None
    is_sounding: Callable[[], bool] = lambda: acting.verbs.is_sounding  # noqa: E731
    search = KeywordSearch(listed(settings.words), verifier=verifier)
    return Spotter(search, acting.reflexes.spotted, is_sounding, acting.echo.guard)


def _not_forgotten(told: str, state_folder: Path) -> Problem:
    """Return what to tell a person of whose words some are still there. Blocking."""
    disk = disk_of(state_folder)["disk"]
    if disk == "has room":
        return Problem(f"{told} `nakari logs --level warning` says why; mend that and type it again", Exit.UNAVAILABLE)
    fix = "make room" if disk == "full" else "mend it"
    return Problem(f"{told} The disk of {state_folder} is {disk}; {fix} and type it again", Exit.CANNOT_CREATE)
