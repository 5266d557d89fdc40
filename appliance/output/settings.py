"""What the voices are told of the configuration, as one small value."""

from msgspec import Struct, field

from appliance.config.load import Config, Secret
from appliance.config.sections import VoiceSettings
from appliance.config.sound.voices import OpenAiSpeechSettings, PiperSettings, SovitsSettings, WyomingSpeechSettings


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
