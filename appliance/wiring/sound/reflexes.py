"""What acts at once on words, beside the mind, put together: reflexes, the verbs they share with tools and commands."""

from collections.abc import Awaitable, Callable
from functools import partial

import structlog
from msgspec import Struct

from agent.event import utc_now
from agent.time.clock_steps import ClockSteps
from appliance.config.values import listed
from appliance.input.devices.echo import echo_in
from appliance.insight.insight import Insight
from appliance.recorder.store import recordings_in
from appliance.reflexes.device import Device
from appliance.reflexes.doubts import Doubts
from appliance.reflexes.forget import Forgetting
from appliance.reflexes.kept import TimedMute
from appliance.reflexes.record import ReflexRecord
from appliance.reflexes.reflexes import Reflexes, Wording
from appliance.reflexes.verbs import Verbs
from appliance.reflexes.voice import Voice
from appliance.reflexes.words import Forgot
from appliance.timers.ringer import RingerHere
from appliance.wiring.agent.agent import Sessions
from appliance.wiring.environment import World
from appliance.wiring.sound.output import Output
from audio.echo.control import EchoControl
from audio.interfaces import AudioSource, EchoGuard
from audio.reflexes.addressing import Addressing
from audio.tts.tts_cache import TtsCache
from audio.turns.listener import NoEcho

log = structlog.get_logger()


class Acting(Struct, frozen=True):
    """What acts at once, and the evidence by which it judges whether a word was an order."""

    source: AudioSource | None
    """None without a microphone."""
    echo: EchoControl
    guard: EchoGuard
    """What keeps it from hearing itself, of this source."""
    addressing: Addressing
    """Whom words are for."""
    verbs: Verbs
    voice: Voice
    record: ReflexRecord
    reflexes: Reflexes
    forgetting: Forgetting
    insight: Insight
    """What is kept of the past, and the sound of the last turns."""

    @property
    def device(self) -> Device:
        """The verbs for the agent's tools."""
        return Device(self.reflexes, self.verbs, self.forgetting, self.voice.language)


def open_acting(
    world: World, output: Output, sessions: Sessions, erase_event: Callable[[str], Awaitable[int]]
) -> Acting:
    """Join what acts at once; `erase_event` removes from the graph what was written because of an event.

    Raises `BadRecording` for an input that is no sound.
    """
    config, clock, speech, switches = world.config, world.environment.clock, output.speech, output.switches
    ears, interrupt = config.ears, sessions.attention.interrupt
    source = world.environment.source(ears, world.options)
    echo = echo_in(ears, source, output.player, speech, config.state_folder)
    # A recording read faster than real time has no common clock with the loudspeaker, and no room between them.
    guard: EchoGuard = NoEcho() if source is not None and not source.is_live else echo.guard
    addressing = Addressing(speech, ears.wake_word, listed(ears.names), ears.follow_up, clock)
    phrases = TtsCache(config.state_folder / "phrases")
    recordings = recordings_in(config.state_folder, config.recorder, config.state)
    if not config.recorder.turns:
        recordings.tidy()  # what was kept while it was on
    forgetting = Forgetting(
        world.state,
        sessions.contexts,
        interrupt,
        erase_event,
        sessions.recall,
        [phrases, recordings],
        hold=sessions.attention.hold,
    )
    insight = Insight(world.state.journal, world.state.mailbox, recordings)
    steps = ClockSteps(utc_now) if world.environment.now is utc_now else None
    mute = TimedMute(switches, config.reflexes.mute_minutes, steps=steps)
    if mute.is_on and (mute.until is None or mute.until > utc_now()):
        log.warning("still_muted", until=mute.until, fix="type unmute or run `nakari unmute`")
    ringer = RingerHere(output.ringer, output.rooms.own) if output.ringer else None

    def interrupt_here() -> bool:
        run = sessions.attention.run
        is_elsewhere = run is not None and output.rooms.of(run.event) != output.rooms.own
        return not is_elsewhere and interrupt()

    verbs = Verbs(speech, mute, switches, ringer, interrupt_here, output.voice.stop_speaking, config.voice.volume)
    voice = Voice(speech, output.player, ears.language)
    words = listed(config.reflexes.words) if config.reflexes.enabled else ()
    wording = Wording(words, listed(ears.names), ears.wake_word.replace("_", " ") if source is not None else "")
    record = ReflexRecord(world.state.bus, clock)
    sounded_until = (lambda: output.player.busy_until) if guard is echo.guard else (lambda: float("-inf"))

    async def forget(session: str) -> Forgot:
        last = partial(forgetting.last, session=session)
        return await (world.forgets(last) if world.forgets else last())

    doubts = Doubts(verbs, addressing, guard.suspicion, sounded_until)
    reflexes = Reflexes(verbs, voice, record, wording, doubts, forget)
    return Acting(source, echo, guard, addressing, verbs, voice, record, reflexes, forgetting, insight)
