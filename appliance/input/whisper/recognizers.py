"""Whisper on this machine: the model that is here, what listens until one has come, and how a better one comes."""

import asyncio
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

import structlog
from msgspec import Struct

from appliance import program
from appliance.input.whisper.choice import AUTO, USUAL_MODEL, Pick, WhisperSettings, is_to_be_measured, pick, recall
from appliance.input.whisper.short_window import is_short
from audio.errors import AudioError, ModelDamaged, ModelNotFound, RecognizerAbsent
from audio.interfaces import Recognizer, WordVerifier
from audio.pcm import Samples
from audio.recognizer.faster_whisper import (
    FasterWhisperRecognizer,
    Hotwords,
    WhisperOptions,
    expecting,
    is_installed,
    no_hotwords,
)
from audio.recognizer.models.speed import BOUND
from audio.recognizer.pocketsphinx import PocketsphinxRecognizer
from audio.recognizer.wrapped import WrappedRecognizer
from audio.speech import Transcript, Utterance

log = structlog.get_logger()

TRY_AGAIN_SECONDS: Final = 3600.0

BUSY_SECONDS: Final = 1.0
"""Who only wants a word verified waits no longer for an utterance that is being recognized."""

SETTLE_SECONDS: Final = 20.0
"""After the start, before the box is measured: until then it does much else."""


NOT_INSTALLED: Final = "faster-whisper, the extra local-whisper, is not installed"
INSTALL: Final = "run scripts/setup, or name a server in [ears] engines"


def last_resort() -> Recognizer:
    """Return what listens where nothing better does: pocketsphinx, which knows English commands."""
    from agent.intents.language.grammar import command_grammar

    return PocketsphinxRecognizer(command_grammar("en"))


class AbsentWhisper:
    """A `Recognizer` that leaves everything to the next one of a chain."""

    name = "whisper"
    sends_to = ()

    def warm(self) -> None:
        """Load nothing."""

    def transcribe(self, utterance: Utterance) -> Transcript:
        """Hear nothing. Raises `RecognizerAbsent`."""
        raise RecognizerAbsent("no Whisper model is here yet")


class StandIn(Struct, frozen=True):
    """What listens while there is no model, or a damaged one."""

    make: Callable[[], Recognizer]
    listens: str
    """A sentence about it."""


LAST_RESORT: Final = StandIn(last_resort, "a small English recognizer listens")
NEXT: Final = StandIn(AbsentWhisper, "the next of [ears] engines listens")
"""In a chain, which has others."""


class CurrentRecognizer(WrappedRecognizer):
    """The recognizer in use; it can be exchanged between two utterances. Safe from several threads: one at a time."""

    def __init__(self, recognizer: Recognizer, instead: StandIn | None = None) -> None:
        """`instead` listens where a model turns out to be damaged; None makes that an error."""
        super().__init__(recognizer)
        self._instead = instead
        self._one = threading.Lock()

    def warm(self) -> None:
        """Load it. Blocking. Raises `ModelNotFound`, `RecognitionFailed`."""
        with self._one:
            try:
                self._recognizer.warm()
            except ModelDamaged as error:
                if self._instead is None:
                    raise
                log.error("whisper_model_damaged", reason=f"{error}; until then {self._instead.listens}")  # noqa: TRY400  a sentence, not a bug
                self._recognizer = self._instead.make()
                self._recognizer.warm()

    def transcribe(self, utterance: Utterance) -> Transcript:
        """Return the words. Blocking. Raises `RecognitionFailed`."""
        with self._one:
            return super().transcribe(utterance)

    def log_probability(self, words: str, samples: Samples) -> float | None:
        """Ask the one in use; None where it cannot tell, or is at an utterance for too long. Raises as it does."""
        if not self._one.acquire(timeout=BUSY_SECONDS):
            return None
        try:
            judge = self._recognizer
            return judge.log_probability(words, samples) if isinstance(judge, WordVerifier) else None
        finally:
            self._one.release()

    def use(self, recognizer: Recognizer) -> None:
        """Take another one, already warm, from the next utterance on."""
        self._recognizer = recognizer


class WhisperHearing(Struct):
    """Whisper, and how a better one comes: a model fetched from the hub, one chosen by measurement."""

    recognizer: CurrentRecognizer
    settings: WhisperSettings
    picked: Pick | None
    """None while the last resort listens: no Whisper model is here."""
    in_short_window: bool = False
    """Whether it was given the short window."""
    names: Hotwords = no_hotwords
    """Names that it knows, told for each utterance; behind the configured hotwords."""
    settle: float = SETTLE_SECONDS
    """Seconds."""

    async def improve(self) -> None:
        """Fetch or measure what is to be, change over to what comes of it, and return when nothing is left to do.

        In a process of its own: it can be ended at any moment, and a model too large for the box takes only it along.
        """
        if not is_installed():
            return
        if is_to_be_measured(self.settings):
            await asyncio.sleep(self.settle)
        while True:
            try:
                is_to_be_fetched = self.settings.ears.download and pick(self.settings) is None
                if not is_to_be_fetched and not is_to_be_measured(self.settings):
                    return
                await pull(self.settings.ears.model, self.settings.config_file)
                await self._change()
            except (AudioError, OSError) as error:
                log.warning("model_not_ready", model=self.settings.ears.model, reason=str(error))
                await asyncio.sleep(TRY_AGAIN_SECONDS)
            else:
                return

    async def _change(self) -> None:
        picked = pick(self.settings)
        in_short_window = picked is not None and is_short(self.settings, picked)
        if picked is not None and (picked, in_short_window) != (self.picked, self.in_short_window):
            better = _whisper(self.settings, picked, self.names)
            await asyncio.to_thread(better.warm)
            self.recognizer.use(better)
            self.picked, self.in_short_window = picked, in_short_window
            log.info("recognizer_changed", recognizer=better.name)
        _tell_choice(self.settings)


def choose_whisper(
    settings: WhisperSettings,
    names: Hotwords = no_hotwords,
    *,
    fetches: bool = False,
    tells: bool = True,
    instead: StandIn = LAST_RESORT,
) -> WhisperHearing:
    """Return Whisper for this box as it is now. Loads nothing. `names` are expected beside the configured words.

    `fetches` says that the service asks: `WhisperHearing.improve` will run, so that a model that is not here comes
    where the box may fetch it, and a damaged one does not end the service. `tells` has what listens logged, `instead`
    listens without a model. Raises `ModelNotFound` when a folder is configured that holds no model, or a name that
    nobody knows.
    """
    picked = pick(settings) if is_installed() else None
    if picked is None:
        if tells:
            _tell_absence(settings, instead, fetches=fetches)
        return WhisperHearing(CurrentRecognizer(instead.make()), settings, None, names=names)
    if tells:
        _tell_choice(settings)
    is_fatal = instead is LAST_RESORT and not fetches
    recognizer = CurrentRecognizer(_whisper(settings, picked, names), None if is_fatal else instead)
    return WhisperHearing(recognizer, settings, picked, is_short(settings, picked), names)


def model_in_use(settings: WhisperSettings) -> str:
    """Return what `[ears] model` comes to: the folder of the model that is here, else the setting as it is."""
    picked = pick(settings)
    return str(picked.folder) if picked else settings.ears.model


def _tell_absence(settings: WhisperSettings, instead: StandIn, *, fetches: bool) -> None:
    """Log what listens without Whisper, and how a model comes."""
    if not is_installed():
        log.warning("no_faster_whisper", reason=f"{NOT_INSTALLED}, so {instead.listens}; {INSTALL}")
        return
    name = USUAL_MODEL if settings.ears.model == AUTO else settings.ears.model
    is_coming = fetches and settings.ears.download
    fix = f"{name} is being fetched" if is_coming else f"`nakari models pull {name}` fetches one"
    log.warning("no_whisper_model", reason=f"no Whisper model is here yet, so {instead.listens}; {fix}")


def _tell_choice(settings: WhisperSettings) -> None:
    """Log what "auto" chose, and the figures behind it."""
    measured = recall(settings) if settings.ears.model == AUTO else None
    if measured is not None:
        log.info(
            "recognizer_chosen",
            model=measured.best.model,
            threads=measured.best.threads,
            real_time_factor=round(measured.best.factor, 3),
            bound=BOUND,
            measured={f"{each.model}/{each.threads}": round(each.factor, 3) for each in measured.measurements},
            measured_at=measured.at.isoformat(timespec="seconds"),
        )


def _whisper(settings: WhisperSettings, picked: Pick, names: Hotwords) -> FasterWhisperRecognizer:
    options = WhisperOptions(is_short(settings, picked), expecting(settings.ears.hotwords, names))
    return FasterWhisperRecognizer(picked.folder, settings.language, picked.threads, options)


async def pull(model: str, config_file: Path | None, python: str = sys.executable) -> None:
    """Run `nakari models pull` for a model, which reads `config_file`, or the usual one where that is None.

    Raises `ModelNotFound` with its sentence, or when it cannot be started.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *program.command(config_file, "models", "pull", model, python=python),
            cwd=program.FOLDER,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for us, who end it
        )
    except OSError as error:  # no memory or no process left for it, or an upgrade took its Python away
        raise ModelNotFound(f"`nakari models pull {model}` cannot be started: {error}") from error
    try:
        _, said = await process.communicate()
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()
    if process.returncode:
        last = said.decode(errors="replace").strip().rpartition("\n")[2].removeprefix("nakari: ")
        raise ModelNotFound(last or f"`nakari models pull {model}` ended with {process.returncode}")
