"""What the recognizer is told of the configuration, as one small value."""

from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from appliance.config.load import Config

AUTO: Final = "auto"


class WhisperSettings(Struct, frozen=True):
    """What is set about hearing, and where models and measurements are kept."""

    model: str
    """"auto", a name, or the path of a CTranslate2 Whisper folder."""
    language: str
    """What is spoken, as ISO 639-1; "" for any."""
    download: bool
    """Whether a model that is not here may be fetched."""
    threads: int
    """That recognize; 0 chooses by the processor."""
    short_window: Literal["auto", "on", "off"]
    hotwords: str
    """Separated by commas."""
    state_folder: Path
    config_file: Path | None
    """What a nakari that is started to fetch a model has to read; None where there is no file."""

    @property
    def models_folder(self) -> Path:
        """Where models are put."""
        return self.state_folder / "models"


def whisper_settings(config: Config) -> WhisperSettings:
    """Return what the configuration says of hearing."""
    ears = config.ears
    return WhisperSettings(
        model=ears.model,
        language="" if ears.language == AUTO else ears.language,
        download=ears.download,
        threads=ears.threads,
        short_window=ears.short_window,
        hotwords=ears.hotwords,
        state_folder=config.state_folder,
        config_file=config.file,
    )
