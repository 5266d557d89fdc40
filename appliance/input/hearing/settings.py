"""What the recognizers are told of the configuration, as one small value."""

from collections.abc import Sequence

from msgspec import Struct

from appliance.config.load import Config, Secret
from appliance.config.sound.recognizers import (
    OpenAiRecognizerSettings,
    RecognizerName,
    StreamingRecognizerSettings,
    WyomingRecognizerSettings,
)
from appliance.input.whisper.settings import WhisperSettings, whisper_settings


class HearingSettings(Struct, frozen=True):
    """Who is to hear."""

    engines: Sequence[RecognizerName]
    """The first to be asked first; not empty."""
    patience: float
    """Seconds that each may take beyond what the length of an utterance allows."""
    whisper: WhisperSettings
    streaming: StreamingRecognizerSettings
    openai: OpenAiRecognizerSettings
    openai_key: Secret | None
    wyoming: WyomingRecognizerSettings

    @property
    def is_whisper_alone(self) -> bool:
        """Whether no sound goes to a server."""
        return tuple(self.engines) == ("whisper",)


def hearing_settings(config: Config) -> HearingSettings:
    """Return what the configuration says of recognizers."""
    return HearingSettings(
        config.ears.engines,
        config.ears.patience,
        whisper_settings(config),
        config.streaming_recognizer,
        config.openai_recognizer,
        config.recognizer_key,
        config.wyoming_recognizer,
    )
