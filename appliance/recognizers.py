"""Which recognizer hears: Whisper where a model is there, the last resort until one has come."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import structlog

from agent.model.offline.grammar import command_grammar
from appliance.config import Config
from audio.errors import AudioError
from audio.interfaces import Recognizer
from audio.recognizer.faster_whisper import FasterWhisperRecognizer
from audio.recognizer.models import fetch_model, find_model
from audio.recognizer.pocketsphinx import PocketsphinxRecognizer
from audio.speech import Transcript, Utterance

log = structlog.get_logger()

USUAL_MODEL: Final = "base"
"""Of the multilingual models the largest that a Raspberry Pi 4 decodes faster than it is spoken."""

TRY_AGAIN_SECONDS: Final = 3600.0


class CurrentRecognizer:
    """The recognizer in use; it can be exchanged between two utterances."""

    def __init__(self, recognizer: Recognizer) -> None:
        self._recognizer = recognizer

    @property
    def name(self) -> str:
        """The name of the one in use."""
        return self._recognizer.name

    def warm(self) -> None:
        """Load it. Blocking."""
        self._recognizer.warm()

    def transcribe(self, utterance: Utterance) -> Transcript:
        """Return the words. Blocking. Raises `RecognitionFailed`."""
        return self._recognizer.transcribe(utterance)

    def use(self, recognizer: Recognizer) -> None:
        """Take another one, already warm, from the next utterance on."""
        self._recognizer = recognizer


@dataclass(frozen=True, slots=True)
class Hearing:
    """The recognizer and, where its model still has to come, how it comes."""

    recognizer: CurrentRecognizer
    config: Config
    is_last_resort: bool

    async def improve(self) -> None:
        """Fetch the model in the background and change over to it; returns when there is nothing to fetch."""
        if not (self.is_last_resort and self.config.ears.download):
            return
        name, folder = _model_name(self.config), self.config.state_folder / "models"
        while True:
            try:
                found = await asyncio.to_thread(fetch_model, name, folder)
                better = _whisper(self.config, found)
                await asyncio.to_thread(better.warm)
            except AudioError as error:
                log.warning("model_not_fetched", model=name, reason=str(error))
            else:
                self.recognizer.use(better)
                log.info("recognizer_changed", recognizer=better.name)
                return
            await asyncio.sleep(TRY_AGAIN_SECONDS)


def choose_recognizer(config: Config) -> Hearing:
    """Return the recognizer for this box. Raises `ModelNotFound` when a folder is configured that holds no model."""
    model = config.ears.model
    if "/" in model:
        return Hearing(CurrentRecognizer(_whisper(config, Path(model).expanduser())), config, is_last_resort=False)
    found = find_model(config.state_folder / "models" / _model_name(config))
    if found is not None:
        return Hearing(CurrentRecognizer(_whisper(config, found)), config, is_last_resort=False)
    log.warning(
        "no_whisper_model",
        reason=f"no Whisper model is here yet, so a small English recognizer listens; "
        f"{'it is being fetched' if config.ears.download else 'put one'} "
        f"into {config.state_folder / 'models' / _model_name(config)}",
    )
    return Hearing(CurrentRecognizer(PocketsphinxRecognizer(command_grammar("en"))), config, is_last_resort=True)


def model_in_use(config: Config) -> str:
    """Return what `[ears] model` comes to: the folder of the model that is here, else the setting as it is."""
    found = find_model(config.state_folder / "models" / _model_name(config))
    return str(found) if found is not None else config.ears.model


def _model_name(config: Config) -> str:
    return USUAL_MODEL if config.ears.model == "auto" else config.ears.model


def _whisper(config: Config, folder: Path) -> FasterWhisperRecognizer:
    language = "" if config.ears.language == "auto" else config.ears.language
    return FasterWhisperRecognizer(folder, language, config.ears.threads)
