"""The mouth's parts, chosen: where sound goes, and which voices make it."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import structlog

from appliance.config.options import RunOptions
from appliance.config.sections import VoiceSettings
from audio.interfaces import Player, Synthesizer
from audio.playback.reopening import ReopeningPlayer
from audio.playback.wav import WavPlayer
from audio.speech import SpeechAudio
from audio.tts import speakable
from audio.tts.chain import VoiceChain
from audio.tts.edge import EdgeSynthesizer
from audio.tts.programs import EspeakSynthesizer
from audio.tts.tts_cache import KeepingVoice, KeptVoice, TtsCache

log = structlog.get_logger()


FIRST_SOUND_WITHIN: Final = 1.5
"""Seconds that a person likes to wait for the first sound of a voice, before the next voice is asked."""

LOCAL_STALLS_AFTER: Final = 3.0
"""Seconds without sound after which the local voice counts as stuck."""


async def open_player(settings: VoiceSettings, options: RunOptions) -> Player:
    """Return the player, open: a WAV where one is asked for, else the loudspeaker; a missing one (told) may come.

    Raises `OutputUnwritable` when the WAV cannot be written.
    """
    if options.output is not None:
        player: Player = WavPlayer(options.output, realtime=not options.fast)
        await player.start()
        return player
    from audio.playback.speaker import SounddeviceOutput

    name = settings.device or "the default loudspeaker"
    if options.brief:
        return OnDemandPlayer(SounddeviceOutput(settings.device), name)
    speaker = ReopeningPlayer(SounddeviceOutput(settings.device), name)
    await speaker.start()
    if not speaker.output.is_there:
        log.warning("no_loudspeaker", reason=f"{speaker.output.reason}; spoken answers go to the journal only")
    return speaker


def _edge_first(settings: VoiceSettings, stall: float) -> list[Synthesizer]:
    edge = EdgeSynthesizer({"en": settings.edge_voice_en, "zh": settings.edge_voice_zh}, url=settings.edge_url)
    return [edge, EspeakSynthesizer(stall_timeout=stall)]


ENGINES: Final[dict[str, Callable[[VoiceSettings, float], list[Synthesizer]]]] = {
    "auto": _edge_first,
    "edge": _edge_first,
    "espeak": lambda settings, stall: [EspeakSynthesizer(stall_timeout=stall)],
}
"""What `[voice] engine` may be, and the voices it stands for, the best first. A new voice needs its line here and its
name in the configuration: what it sends is told by itself."""


def voices_of(settings: VoiceSettings, stall: float = LOCAL_STALLS_AFTER) -> list[Synthesizer]:
    """Return the voices that may speak, the best first; a local one may be silent for `stall` seconds. Asks nothing."""
    return ENGINES[settings.engine](settings, stall)


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


def load_voice(settings: VoiceSettings) -> None:
    """Import what only speaking needs, once the ears are open; else the first sentence does. Blocking."""
    speakable.load()
    for voice in voices_of(settings):
        if isinstance(voice, EdgeSynthesizer):
            voice.load()


def choose_voice(
    settings: VoiceSettings,
    state_folder: Path,
    clock: Callable[[], float] = time.monotonic,
    *,
    silence: float = FIRST_SOUND_WITHIN,
) -> Synthesizer:
    """Return the chain of voices: over the network first where that is allowed, the local one, then kept phrases.

    Phrases are kept in `state_folder`. `clock` gives the monotonic seconds for which a voice that failed is left
    alone. `silence` is how many seconds a voice may take to its first sound.
    """
    voices = voices_of(settings, max(silence, LOCAL_STALLS_AFTER))
    phrases = TtsCache(state_folder / "phrases")
    if not settings.keep_phrases:
        phrases.forget()
        return VoiceChain(voices, clock=clock, first_audio_deadline=silence)
    kept = KeptVoice(phrases, [voice.name for voice in voices])
    return VoiceChain(
        [KeepingVoice(voice, phrases) for voice in voices], kept, clock=clock, first_audio_deadline=silence
    )
