"""Ears and mouth, put together: from the microphone to the mailbox, from a reply to the loudspeaker, and joined."""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial

from agent.context.epochs import Contexts
from agent.context.situation import SituationProvider, client_zone, mood, place_in_time, rang, waited
from agent.event import utc_now
from agent.run.attention import Attention
from appliance.api.handler import Part
from appliance.config.load import Config
from appliance.config.options import RunOptions
from appliance.input.devices import supervised
from appliance.input.ears import Ears, Followers, open_ears
from appliance.input.echo import calibrated, echo_in
from appliance.input.intake import Intake
from appliance.input.lost import LostTurns
from appliance.input.pending_turns import PendingTurns
from appliance.input.prewarm import Prewarm
from appliance.input.suppressed import SuppressedTurns
from appliance.output.interruption import Interruption
from appliance.output.voice import VoiceReplySink
from appliance.timers.due import DueTimers
from appliance.timers.ringer import Ringer
from appliance.wiring.environment import Environment
from appliance.wiring.reflexes import ReflexSide, reflex_side
from appliance.wiring.state import State
from audio.capture.live import LiveMicrophone
from audio.capture.recording import RecordingSource
from audio.echo.control import EchoControl
from audio.echo.self_echo import SelfEcho
from audio.interfaces import Player
from audio.playback.speech_output import SpeechOutput
from audio.reflexes.words import asked
from audio.turns.evidence import evidence_guard
from audio.turns.listener import REFLEX, Surroundings


@dataclass(frozen=True, slots=True)
class Senses:
    """What hears and speaks, and what ends the one by the other."""

    ears: Ears | None
    """None without a microphone."""
    echo: EchoControl
    mouth: SpeechOutput
    voice: VoiceReplySink
    reflexes: ReflexSide
    ringer: Ringer | None
    """None in a box that only lives for one question: it leaves timers to the next one."""
    intake: Intake

    def situation(self, config: Config) -> Sequence[SituationProvider]:
        """Return what is told of the moment of an event."""
        here = place_in_time(config.zone, utc_now)
        always = (here, client_zone, mood, waited(utc_now), self.reflexes.reflexes.situation)
        return (*always, rang) if self.ringer else always

    async def calibrate(self) -> str:
        """Measure its echo; return the sentence that says what was found. Raises `Problem` where nothing could be."""
        is_deaf = self.ears is None or self.ears.is_deaf
        return await calibrated(self.echo, is_muted=self.reflexes.body.mute.is_on, is_deaf=is_deaf)

    def describe(self) -> dict[str, Part]:
        """Return what each part says of itself in the status."""
        ears, echo = self.ears, self.echo
        parts: dict[str, Part] = {"reflexes": self.reflexes.describe}
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


@dataclass(frozen=True, slots=True)
class World:
    """What the senses are put into."""

    config: Config
    options: RunOptions
    outside: Environment
    state: State


def open_senses(world: World, player: Player, connect: Callable[[], Coroutine[None, None, None]]) -> Senses:
    """Return ears and mouth around an open player; `connect` warms the model while somebody speaks.

    Raises `BadRecording` for an input that is no sound, `ModelNotFound` for a configured model folder that is none.
    """
    config, options, state, clock = world.config, world.options, world.state, world.outside.clock
    mouth = SpeechOutput(world.outside.voice(config), player, clock, volume=config.voice.volume)
    voice = VoiceReplySink(mouth, state.bus, config.ears.language)
    ringer = None if options.deaf else Ringer(DueTimers(state), mouth, config.ears.language)
    reflexes = reflex_side(config, state, mouth, player, ringer, clock)
    own_words = SelfEcho()
    own_words.follow(mouth, clock)
    reflexes.forgetting.drop_words.append(own_words.forget)
    turns = PendingTurns(state.mailbox, mouth.say, config.ears.language)
    intake = Intake(turns, config.mind.max_tool_calls, (evidence_guard, own_words), clock=clock)
    reflexes.guard(intake)
    source = world.outside.source(config, options)
    echo = echo_in(config, source, player, mouth)
    ears = None
    if not options.deaf:
        lost = LostTurns(partial(reflexes.voice.give, "error"), reflexes.attention.is_open, clock)
        followers = Followers(Prewarm(connect, clock), SuppressedTurns(state.bus), lost)
        devices = supervised(config, source, player, mouth)
        surroundings = Surroundings(echo.guard, clock)
        ears = open_ears(config, reflexes.muted(source), surroundings, intake, followers, devices)
    if ringer and ears:
        ringer.is_spoken_to = ears.hear_somebody
    if ears and isinstance(source, LiveMicrophone | RecordingSource):
        listener = ears.listener
        source.is_at_rest = lambda: listener.is_at_rest and mouth.current is None
    return Senses(ears, echo, mouth, voice, reflexes, ringer, intake)


def join(senses: Senses, agent: Attention, contexts: Contexts, clock: Callable[[], float]) -> Interruption:
    """Let what is heard end what is said: by words that nothing holds back from the mind, and by reflexes."""
    interruption = Interruption(senses.mouth, senses.voice, agent.interrupt, clock)
    reflexes, intake = senses.reflexes, senses.intake
    reflexes.body.interrupt, reflexes.body.silence = agent.interrupt, interruption.silence
    reflexes.forgetting.interrupt, reflexes.forgetting.contexts = agent.interrupt, contexts
    interruption.mode = lambda: senses.echo.duplex.mode
    interruption.hears_another = lambda: senses.echo.hears_another
    interruption.guards = (*intake.guards, lambda heard: REFLEX if asked(heard.transcript.text) else "")
    intake.guards = (*intake.guards, interruption.guard)
    if senses.ears is not None:
        interruption.follow(senses.ears.listener)
    reflexes.listen(senses.ears)
    return interruption
