"""What `[ears] model` comes to on this box, model and threads; what "auto" measured is kept in the state folder."""

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TypeVar

from msgspec import Struct, json

from appliance.config.load import Config
from appliance.config.sections import EarsSettings
from audio.errors import AudioError, ModelNotFound
from audio.interfaces import Recognizer
from audio.recognizer.faster_whisper import FasterWhisperRecognizer
from audio.recognizer.models.catalog import Model, find_model, models_in, repository_of
from audio.recognizer.models.hub import HubModel, whisper_model
from audio.recognizer.models.speed import Measurement, choose, measure, thread_counts
from memory.durable import replace_durably
from memory.json_value import read_json

Found = TypeVar("Found")

AUTO: Final = "auto"


class WhisperSettings(Struct, frozen=True):
    """What is set about hearing, and where models and measurements are kept."""

    ears: EarsSettings
    state_folder: Path
    config_file: Path | None
    """What a nakari that is started to fetch a model has to read; None where there is no file."""

    @property
    def language(self) -> str:
        """What is spoken, as ISO 639-1; "" for any."""
        return "" if self.ears.language == AUTO else self.ears.language

    @property
    def models_folder(self) -> Path:
        """Where models are put."""
        return self.state_folder / "models"


def whisper_settings(config: Config) -> WhisperSettings:
    """Return what the configuration says of hearing."""
    return WhisperSettings(config.ears, config.state_folder, config.file)


USUAL_MODEL: Final = "base"
"""What "auto" fetches, and listens with until it has measured: of the multilingual models the largest that a
Raspberry Pi 4 decodes faster than it is spoken."""


class Conditions(Struct, frozen=True):
    """What a measurement depends on: where one of these differs, it is made anew."""

    models: dict[str, int]
    """The models that were there, with the bytes of their weights."""
    language: str
    threads: int
    """`[ears] threads`: 0 when the measurement was to choose them."""
    cores: int
    processor: str


class Measured(Struct, frozen=True):
    """What was measured on this box, and when."""

    conditions: Conditions
    measurements: tuple[Measurement, ...]
    """At least one."""
    at: datetime
    """UTC."""

    @property
    def best(self) -> Measurement:
        """The choice that follows."""
        best = choose(self.measurements)
        if best is None:
            raise ValueError("nothing was measured")
        return best


class Pick(Struct, frozen=True):
    """What listens."""

    folder: Path
    threads: int
    """0 leaves it to the library."""


def pick(settings: WhisperSettings) -> Pick | None:
    """Return what listens on this box as it is now, None where no model is here.

    Raises `ModelNotFound` when a name is configured that is neither here nor known.
    """
    wanted, threads = settings.ears.model, settings.ears.threads
    if "/" in wanted:
        return Pick(Path(wanted).expanduser(), threads)
    if wanted != AUTO:
        found = find_model(settings.models_folder / wanted)
        if found is None:
            repository_of(wanted)
        return Pick(found, threads) if found else None
    here = {model.name: model for model in candidates(settings)}
    measured = recall(settings)
    if measured is not None:
        return Pick(here[measured.best.model].folder, measured.best.threads)
    usual = here.get(USUAL_MODEL) or next(iter(here.values()), None)
    return Pick(usual.folder, threads) if usual else None


def wanted_download(settings: WhisperSettings) -> HubModel | None:
    """Return the Whisper model that is to be fetched, None where one is here, or a folder or an unknown name is set."""
    name = USUAL_MODEL if settings.ears.model == AUTO else settings.ears.model
    try:
        is_lacking = pick(settings) is None
    except ModelNotFound:  # a name that nobody knows
        return None
    return whisper_model(name) if is_lacking else None


def is_to_be_measured(settings: WhisperSettings) -> bool:
    """Say whether "auto" has models to choose from, and has not chosen yet."""
    return settings.ears.model == AUTO and bool(candidates(settings)) and recall(settings) is None


def candidates(settings: WhisperSettings) -> list[Model]:
    """Return the models that are here and may know the language, smallest first."""
    return [model for model in models_in(settings.models_folder) if model.understands(settings.language)]


def recall(settings: WhisperSettings) -> Measured | None:
    """Return what was measured, None if that was never, cannot be read, or was under other conditions."""
    found = kept(Measured, _file(settings))
    return found if found and found.measurements and found.conditions == _conditions(settings) else None


def measure_box(
    settings: WhisperSettings,
    tell: Callable[[Measurement], None],
    skip: Callable[[Model, AudioError], None],
    clock: Callable[[], float] = time.perf_counter,
) -> Measured:
    """Measure the models that are here and keep the result. Blocking, some seconds.

    Each measurement is told as it is made, a model that cannot be used to `skip`. `clock` gives seconds. Raises
    `ModelNotFound` when none can be used, `OSError` when the state folder cannot be written.
    """
    found: list[Measurement] = []

    def load(folder: Path, threads: int) -> Recognizer:
        return FasterWhisperRecognizer(folder, settings.language, threads)

    conditions = _conditions(settings)
    threads = [conditions.threads] if conditions.threads else thread_counts(conditions.cores)
    for measurement in measure(candidates(settings), threads, load, skip, clock):
        tell(measurement)
        found.append(measurement)
    if not found:
        raise ModelNotFound("no Whisper model is here that could be measured; `nakari models pull auto` fetches one")
    measured = Measured(conditions, tuple(found), datetime.now(UTC))
    keep(measured, _file(settings))
    return measured


def _conditions(settings: WhisperSettings) -> Conditions:
    models = {model.name: model.size for model in candidates(settings)}
    cores = len(os.sched_getaffinity(0))
    return Conditions(models, settings.language, settings.ears.threads, cores, _processor())


def _processor() -> str:
    """Return what the kernel calls the processor or the board: a card may move to another box."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    named = [line.partition(":")[2].strip() for line in lines if line.startswith(("model name", "Model"))]
    return named[0] if named else ""


def _file(settings: WhisperSettings) -> Path:
    return settings.state_folder / "recognizer.json"


def kept(kind: type[Found], file: Path) -> Found | None:
    """Return what was kept in a file; None where none was, or it cannot be read any more."""
    try:
        return read_json(file.read_bytes(), kind)
    except (OSError, ValueError):
        return None


def keep(found: Struct, file: Path) -> None:
    """Write what was found; a reader finds the old or the new whole. Raises OSError when that cannot be done."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    replace_durably(file, [json.format(json.encode(found), indent=1)])
