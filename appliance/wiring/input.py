"""The ears, put together: from the microphone to the mailbox, and what ends a reply for whoever speaks over it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import structlog

from appliance.api.handler import Part
from appliance.config.values import listed
from appliance.input.devices import supervised
from appliance.input.ears import Ears, Followers
from appliance.input.echo import calibrated, echo_in
from appliance.input.intake import Intake, TurnGate
from appliance.input.lost import LostTurns
from appliance.input.pending_turns import PendingTurns
from appliance.input.prewarm import Prewarm
from appliance.input.suppressed import SuppressedTurns
from appliance.output.interruption import Interruption
from appliance.reflexes.acting import Body
from appliance.reflexes.doubts import Doubts
from appliance.reflexes.forget import Forgetting
from appliance.reflexes.record import ReflexRecord
from appliance.reflexes.reflexes import Reflexes, Wording
from appliance.reflexes.sign import ListeningSign
from appliance.reflexes.voice import Voice
from appliance.reflexes.words import sentence
from appliance.wiring.agent import Agent
from appliance.wiring.environment import World
from appliance.wiring.output import Output
from audio.capture.mute import Mute, MutedSource
from audio.echo.control import EchoControl
from audio.echo.self_echo import SelfEcho
from audio.interfaces import AudioSource, EchoGuard
from audio.loops import Loop
from audio.reflexes.attention import Attention
from audio.reflexes.spotter import KeywordSearch, Spotter
from audio.reflexes.wakeword import WakeWord
from audio.reflexes.words import asked
from audio.speech import RecognizedTurn
from audio.turns.endpointer import Endpointer, EndpointerSettings
from audio.turns.evidence import evidence_guard
from audio.turns.listener import REFLEX, Listener, NoEcho, Surroundings
from memory.json_value import Json

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Input:
    """Everything that hears, and what acts beside the mind on what was heard."""

    ears: Ears | None
    """None without a microphone."""
    echo: EchoControl
    interruption: Interruption
    intake: Intake
    attention: Attention
    acting: "Acting"
    spotter: Spotter | None
    """None where no word is looked for in sound."""
    sign: ListeningSign

    @property
    def reflexes(self) -> Reflexes:
        """What acts at once."""
        return self.acting.reflexes

    def loops(self) -> Mapping[str, Loop]:
        """Return what hears, and what acts on it, until cancelled."""
        ears = {} if self.ears is None else {**self.ears.loops(), "ears: the echo canceller": self.echo.run}
        spotter = {} if self.spotter is None else {"reflexes: words spotted in sound": self.spotter.run}
        return {
            **ears,
            "ears: turns that the disk refused, to the mailbox": self.intake.turns.run,
            "ears: goes on with a reply when it was nothing": self.interruption.run,
            **self.reflexes.loops(),
            "reflexes: the sign that it listens": self.sign.run,
            **spotter,
        }

    async def calibrate(self) -> str:
        """Measure its echo; return the sentence that says what was found. Raises `Problem` where nothing could be."""
        is_deaf = self.ears is None or self.ears.is_deaf
        return await calibrated(self.echo, is_muted=self.acting.body.mute.is_on, is_deaf=is_deaf)

    async def forget(self, last: int = 1, minutes: float | None = None) -> str:
        """Forget so many turns, or all of so many minutes, typed ones too; return the sentence that tells of it."""
        forgetting = self.acting.forgetting
        done = await (forgetting.last(last, typed=True) if minutes is None else forgetting.since(minutes, typed=True))
        return sentence(done, self.acting.voice.language)

    def describe(self) -> dict[str, Part]:
        """Return what each part says of itself in the status."""
        ears, echo = self.ears, self.echo
        parts: dict[str, Part] = {"reflexes": self._describe_reflexes, "interruptions": self.interruption.describe}
        if ears is None:
            return {"ears": lambda: {"source": "none"}, "loudspeaker": lambda: {"device": "none"}, **parts}
        return {
            "ears": lambda: {
                **ears.describe(),
                "waiting_for_disk": len(self.intake.turns),
                "duplex": echo.describe(),
            },
            "loudspeaker": ears.devices.describe_loudspeaker,
            **parts,
        }

    def _describe_reflexes(self) -> dict[str, Json]:
        attention = self.attention
        wake: dict[str, Json] = {"wake_word": attention.wake_word or "none", "wakes": attention.wakes}
        spotted = self.spotter is not None and self.spotter.ready.is_set()
        return {**self.reflexes.describe(), **wake, "spotted_in_sound": spotted}


@dataclass(frozen=True, slots=True)
class Acting:
    """What acts at once on words, beside the mind."""

    body: Body
    voice: Voice
    reflexes: Reflexes
    forgetting: Forgetting


def open_input(world: World, output: Output, agent: Agent, record: ReflexRecord, forgetting: Forgetting) -> Input:
    """Join everything from the microphone to the mailbox; nothing is heard before its loops run.

    Raises `BadRecording` for an input that is no sound, `ModelNotFound` for a configured model folder that is none.
    """
    config, clock, speech = world.config, world.environment.clock, output.speech
    source = world.environment.source(config, world.options)
    echo = echo_in(config.ears, source, output.player, speech)
    # A recording read faster than real time has no common clock with the loudspeaker, and no room between them.
    guard: EchoGuard = NoEcho() if source is not None and not source.is_live else echo.guard
    attention = Attention(speech, config.ears.wake_word, listed(config.ears.names), config.ears.follow_up, clock)
    acting = _acting(world, output, agent, record, Listening(attention, guard, forgetting))
    own_words = SelfEcho(speech, clock)
    gate = TurnGate(
        mute=acting.body.mute.guard, evidence=evidence_guard, own_words=own_words, attention=attention.guard
    )
    interruption = Interruption(
        speech, output.voice, agent.loop.interrupt, echo, lambda heard: gate(heard) or _reflex(heard), clock
    )
    turns = PendingTurns(world.state.mailbox, speech.say, config.ears.language)
    intake = Intake(
        turns,
        config.mind.max_tool_calls,
        gate,
        interruption.guard,
        acting.reflexes.take,
        attention.marks,
        clock,
    )
    forgetting.empties(speech, own_words)
    sign = ListeningSign(acting.voice)
    hearing = world.environment.hearing(config)
    if world.options.deaf or source is None:
        return Input(None, echo, interruption, intake, attention, acting, None, sign)
    followers = Followers(
        acting.reflexes,
        interruption,
        Prewarm(agent.models.warm, clock),
        SuppressedTurns(world.state.bus),
        LostTurns(partial(acting.voice.give, "error"), attention.is_open, clock),
    )
    listener = Listener(
        MutedSource(source, acting.body.mute),
        world.environment.detector(),
        Endpointer(EndpointerSettings(commit_seconds=config.ears.commit_silence)),
        hearing.recognizer,
        intake,
        Surroundings(guard, clock, output.activity, lambda: speech.current is None),
    )
    devices = supervised(source, output.player, speech, config.ears.language)
    ears = Ears(listener, hearing, followers, devices, output.activity, clock)
    spotter = _spotter(world, acting, source)
    wake = [WakeWord(attention.wake_word, attention.wake, sign.woken.set)] if attention.wake_word else []
    listener.watch(ears.arrived, interruption, *([spotter] if spotter else []), *wake)
    followers.follow(listener)
    forgetting.empties(listener, followers.suppressed, *([spotter] if spotter else []))
    return Input(ears, echo, interruption, intake, attention, acting, spotter, sign)


@dataclass(frozen=True, slots=True)
class Listening:
    """What a reflex word has to stand up to."""

    attention: Attention
    guard: EchoGuard
    forgetting: Forgetting


def _acting(world: World, output: Output, agent: Agent, record: ReflexRecord, listening: Listening) -> Acting:
    config, switches = world.config, output.switches
    body = Body(
        output.speech,
        Mute(is_on=switches.now.muted),
        switches,
        output.ringer,
        agent.loop.interrupt,
        output.voice.stop_speaking,
        configured_volume=config.voice.volume,
    )
    if body.mute.is_on:
        log.warning("still_muted", fix="type unmute or run `nakari unmute`")
    voice = Voice(output.speech, output.player, config.ears.language)
    active = listed(config.reflexes.words) if config.reflexes.enabled else ()
    doubts = Doubts(body, listening.attention, listening.guard.suspicion)
    wording = Wording(active, listed(config.ears.names))
    reflexes = Reflexes(body, voice, record, wording, doubts, listening.forgetting.last)
    return Acting(body, voice, reflexes, listening.forgetting)


def _reflex(heard: RecognizedTurn) -> str:
    """Return `REFLEX` for words that are one: they act by themselves, and end no reply as words."""
    return REFLEX if asked(heard.transcript.text) else ""


def _spotter(world: World, acting: Acting, source: AudioSource) -> Spotter | None:
    """Return what looks for words in sound, where there is a clock to act by, and English to hear."""
    settings, language = world.config.reflexes, world.config.ears.language
    if not (settings.enabled and language in {"", "auto", "en"} and source.is_live):
        return None
    is_sounding: Callable[[], bool] = lambda: acting.body.is_sounding  # noqa: E731
    return Spotter(KeywordSearch(listed(settings.words)), acting.reflexes.spotted, is_sounding)
