"""The mouth's parts, chosen: where sound goes, and which voices make it."""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

import structlog
from msgspec import Struct, field
from msgspec.structs import replace

from appliance.config.load import Config, Secret
from appliance.config.options import RunOptions
from appliance.config.sections import VoiceSettings
from appliance.config.sound import OpenAiSpeechSettings, PiperSettings, SovitsSettings, WyomingSpeechSettings
from audio.interfaces import Player, Synthesizer
from audio.playback.live import Output
from audio.playback.reopening import ReopeningPlayer
from audio.playback.wav import WavPlayer
from audio.speech import SpeechAudio
from audio.tts import speakable
from audio.tts.chain import PATIENCE_SECONDS, VoiceChain
from audio.tts.edge import EdgeSynthesizer
from audio.tts.programs import EspeakSynthesizer
from audio.tts.tts_cache import KeepingVoice, KeptVoice, TtsCache
from audio.wyoming import server_at

log = structlog.get_logger()

STALLS_AFTER: Final = 3.0
"""Seconds without sound after which a voice counts as stuck."""


class SpeechSettings(Struct, frozen=True):
    """Which voices speak, and what is set about each."""

    voice: VoiceSettings = field(default_factory=VoiceSettings)
    sovits: SovitsSettings = field(default_factory=SovitsSettings)
    openai: OpenAiSpeechSettings = field(default_factory=OpenAiSpeechSettings)
    wyoming: WyomingSpeechSettings = field(default_factory=WyomingSpeechSettings)
    piper: PiperSettings = field(default_factory=PiperSettings)
    openai_key: Secret | None = None


def speech_settings(config: Config) -> SpeechSettings:
    """Return what the configuration says of the voices."""
    return SpeechSettings(
        config.voice, config.sovits, config.openai_speech, config.wyoming_speech, config.piper, config.speech_key
    )


async def open_player(settings: VoiceSettings, options: RunOptions) -> Player:
    """Return the player, open: a WAV where one is asked for, else the loudspeaker; a missing one (told) may come.

    Raises `OutputUnwritable` when the WAV cannot be written.
    """
    if options.output is not None:
        player: Player = WavPlayer(options.output, realtime=not options.fast)
        await player.start()
        return player
    name, output = settings.device or "the default loudspeaker", output_of(settings)
    if options.brief:
        return OnDemandPlayer(output, name)
    speaker = ReopeningPlayer(output, name)
    await speaker.start()
    if not speaker.output.is_there:
        log.warning("no_loudspeaker", reason=f"{speaker.output.reason}; spoken answers go to the journal only")
    return speaker


def output_of(settings: VoiceSettings) -> Output:
    """Return the way to the loudspeaker, by the library that was chosen; no device is touched."""
    if settings.backend == "pyaudio":
        from audio.pyaudio_backend import PyAudioOutput

        return PyAudioOutput(settings.device)
    from audio.playback.speaker import SounddeviceOutput

    return SounddeviceOutput(settings.device)


def _edge(settings: SpeechSettings, stall: float) -> Synthesizer:
    told = settings.voice
    return EdgeSynthesizer(
        {"en": told.edge_voice_en, "zh": told.edge_voice_zh}, url=told.edge_url, first_audio_timeout=stall
    )


def _espeak(settings: SpeechSettings, stall: float) -> Synthesizer:
    return EspeakSynthesizer(stall_timeout=stall)


def _sovits(settings: SpeechSettings, stall: float) -> Synthesizer:
    from audio.tts.http_speech import Reference, SovitsSynthesizer

    told = settings.sovits
    reference = Reference(told.reference, told.reference_language, told.reference_text)
    return SovitsSynthesizer(told.url, reference, streaming_mode=told.streaming_mode)


def _openai(settings: SpeechSettings, stall: float) -> Synthesizer:
    from audio.tts.http_speech import OpenAiSpeechSynthesizer

    told = settings.openai
    key = settings.openai_key.reveal() if settings.openai_key else ""
    voices = {"": told.voice, **told.voices}
    return OpenAiSpeechSynthesizer(told.url, told.model, voices, key=key, response_format=told.format)


def _wyoming(settings: SpeechSettings, stall: float) -> Synthesizer:
    from audio.tts.wyoming import PORT, WyomingSynthesizer

    server = replace(server_at(settings.wyoming.url, PORT), timeout=stall)
    return WyomingSynthesizer(server, settings.wyoming.voices)


def _piper(settings: SpeechSettings, stall: float) -> Synthesizer:
    from audio.tts.piper import PiperSynthesizer

    models = {language: str(Path(model).expanduser()) for language, model in settings.piper.models.items()}
    return PiperSynthesizer(settings.piper.command, models, stall_timeout=stall)


ENGINES: Final[dict[str, Callable[[SpeechSettings, float], Synthesizer]]] = {
    "edge": _edge,
    "espeak": _espeak,
    "sovits": _sovits,
    "openai": _openai,
    "wyoming": _wyoming,
    "piper": _piper,
}
"""What `[voice] engines` may name. A new voice needs its line here and its name in the configuration: what it sends is
told by itself."""


def voices_of(settings: SpeechSettings, stall: float = STALLS_AFTER) -> list[Synthesizer]:
    """Return the voices that may speak, the best first; one that waits itself does so `stall` seconds. Asks nothing."""
    return [ENGINES[name](settings, stall) for name in settings.voice.engines]


class OnDemandPlayer(ReopeningPlayer):
    """A loudspeaker that is opened for its first sound: a question in writing is mostly over before there is one."""

    _is_open = False

    async def start(self) -> None:
        """Open the device, once."""
        if not self._is_open:
            self._is_open = True
            await super().start()

    async def play(self, audio: SpeechAudio) -> None:
        """Open the device and queue the samples. Raises `DeviceUnavailable`."""
        await self.start()
        await super().play(audio)

    async def aclose(self) -> None:
        """Close the device if it was opened."""
        if self._is_open:
            await super().aclose()


def load_voice(settings: SpeechSettings) -> None:
    """Import what only speaking needs, once the ears are open; else the first sentence does. Blocking."""
    speakable.load()
    for voice in voices_of(settings):
        voice.load()


def choose_voice(
    settings: SpeechSettings,
    state_folder: Path,
    clock: Callable[[], float] = time.monotonic,
    *,
    silence: float | None = None,
) -> Synthesizer:
    """Return the chain of voices in the configured order, then kept phrases.

    Phrases are kept in `state_folder`. `clock` gives the monotonic seconds for which a voice that failed is left
    alone. `silence` is how many seconds a voice may take to its first sound, if not as long as is configured.
    """
    first = settings.voice.first_sound_deadline if silence is None else silence
    stall = max(first, STALLS_AFTER)
    voices = voices_of(settings, max(stall, PATIENCE_SECONDS))
    chain = partial(VoiceChain, clock=clock, first_audio_deadline=first, stall_deadline=stall)
    phrases = TtsCache(state_folder / "phrases")
    if not settings.voice.keep_phrases:
        phrases.forget()
        return chain(voices)
    kept = KeptVoice(phrases, [voice.identity or voice.name for voice in voices])
    return chain([KeepingVoice(voice, phrases) for voice in voices], kept)
