"""Everything of reflexes, wake word, mute and forgetting that a box has, put together."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

import structlog

from agent.model.messages import Json
from appliance.config.load import Config
from appliance.config.values import listed
from appliance.input.ears import Ears
from appliance.input.intake import Intake
from appliance.reflexes.device import Device
from appliance.reflexes.doubts import Doubts
from appliance.reflexes.forget import Forgetting
from appliance.reflexes.kept import KeptSwitches
from appliance.reflexes.reflexes import Reflexes, Wording
from appliance.reflexes.verbs import Verbs
from appliance.reflexes.voice import Voice
from appliance.reflexes.words import sentence
from appliance.timers.ringer import Ringer
from appliance.wiring.state import State
from audio.capture.mute import Mute, MutedSource
from audio.interfaces import AudioSource, Player
from audio.playback.speech_output import SpeechOutput
from audio.reflexes.attention import Attention
from audio.reflexes.spotter import KeywordSearch, Spotter
from audio.reflexes.wakeword import WakeWord
from audio.tts.tts_cache import TtsCache

log = structlog.get_logger()

SWITCHES = "switches.json"
"""The file in the state folder that keeps mute and volume."""


@dataclass(slots=True)
class ReflexSide:
    """What the box knows of it; `run` is its one loop."""

    config: Config
    body: Verbs
    voice: Voice
    reflexes: Reflexes
    attention: Attention
    forgetting: Forgetting
    spotter: Spotter | None = None
    _woken_alone: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def device(self) -> Device:
        """The verbs for the agent's tools."""
        return Device(self.reflexes, self.body)

    def muted(self, source: AudioSource | None) -> AudioSource | None:
        """Return the source behind the mute switch."""
        return None if source is None else MutedSource(source, self.body.mute)

    def guard(self, intake: Intake) -> None:
        """Stand in the way into the mailbox: mute first, then whom the words are for, then the reflexes."""
        intake.guards = (self.body.mute.guard, *intake.guards, self.attention.guard)
        intake.reflexes = (*intake.reflexes, self.reflexes.take)
        intake.addressing = lambda heard: {**self.attention.marks(heard)}

    def listen(self, ears: Ears | None) -> None:
        """Watch the chunks and follow the turns of these ears; follow the mouth, behind whoever follows it already."""
        before, attention = self.body.mouth.on_speaking, self.attention

        def speaking(speaking: bool) -> None:
            attention.speaking(speaking)
            before(speaking)

        self.body.mouth.on_speaking = speaking
        if ears is None:
            return
        listener = ears.listener
        self.forgetting.drop_words += [listener.forget, ears.followers.suppressed.forget]
        doubts = Doubts(self.body, attention, lambda began, ended: listener.echo.suspicion(began, ended))
        self.reflexes.doubt = doubts
        listener.observers.insert(0, self.reflexes)
        self._spot(ears)
        self._watch_for_wake_word(ears)

    async def run(self) -> None:
        """Spot words, do what acts bring along, and give the sign that it listens, until cancelled."""
        if self.body.mute.is_on:
            log.warning("still_muted", fix="type unmute or run `nakari unmute`")
        async with asyncio.TaskGroup() as group:
            group.create_task(self.reflexes.run(), name="reflexes: afterwards")
            group.create_task(self._sign(), name="reflexes: the sign that she listens")
            if self.spotter is not None:
                group.create_task(self.spotter.run(), name="reflexes: words spotted in sound")

    async def forget(self, last: int = 1, minutes: float | None = None) -> str:
        """Forget so many turns, or all of so many minutes, typed ones too; return the sentence that tells of it."""
        forgetting = self.forgetting
        done = await (forgetting.last(last, typed=True) if minutes is None else forgetting.since(minutes, typed=True))
        return sentence(done, self.voice.language)

    def describe(self) -> dict[str, Json]:
        """Return the switches and what was done, for the status."""
        wake: dict[str, Json] = {"wake_word": self.config.ears.wake_word or "none", "wakes": self.attention.wakes}
        spotted = self.spotter is not None and self.spotter.ready.is_set()
        return {**self.reflexes.describe(), **wake, "spotted_in_sound": spotted}

    def _spot(self, ears: Ears) -> None:
        """Look for words in sound where there is a clock to act by, and English to hear."""
        settings = self.config.reflexes
        speaks_english = self.config.ears.language in {"", "auto", "en"}
        if settings.enabled and speaks_english and ears.listener.source.is_live:
            self.spotter = Spotter(KeywordSearch(listed(settings.words)), self.reflexes.spotted)
            self.spotter.is_sounding = lambda: self.body.is_sounding
            self.forgetting.drop_words.append(self.spotter.forget)
            ears.listener.watchers.append(self.spotter)

    def _watch_for_wake_word(self, ears: Ears) -> None:
        name = self.config.ears.wake_word
        if not name:
            return
        ears.listener.watchers.append(WakeWord(name, self.attention.wake, self._woken_alone.set))

    async def _sign(self) -> None:
        while True:
            await self._woken_alone.wait()
            self._woken_alone.clear()
            await self.voice.give("listening")


def reflex_side(
    config: Config, state: State, mouth: SpeechOutput, player: Player, ringer: Ringer | None, clock: Callable[[], float]
) -> ReflexSide:
    """Return the reflexes of a box, with the switches as they were left; `clock` is the source's, in seconds."""
    kept = KeptSwitches(config.state_folder / SWITCHES)
    mouth.volume.percent = kept.volume_for(config.voice.volume)
    body = Verbs(mouth, Mute(is_on=kept.now.muted), kept, ringer, configured_volume=config.voice.volume)
    voice = Voice(mouth, player, config.ears.language)
    names = listed(config.ears.names)
    active = listed(config.reflexes.words) if config.reflexes.enabled else ()
    reflexes = Reflexes(body, voice, state.bus, Wording(active, names), clock)
    attention = Attention(config.ears.wake_word, names, config.ears.follow_up, clock)
    forgetting = Forgetting(state)
    forgetting.drop_sound.append(TtsCache(config.state_folder / "phrases").forget)
    forgetting.drop_words.append(mouth.forget)
    reflexes.forget = forgetting.last
    return ReflexSide(config, body, voice, reflexes, attention, forgetting)
