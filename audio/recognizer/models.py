"""Whisper models on disk: which folder is one, and how one is fetched from the hub."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from audio.errors import ModelNotFound

NEEDED: Final = ("config.json", "model.bin", "tokenizer.json", "preprocessor_config.json")
"""faster-whisper goes to the hub by itself for a folder that lacks one of them: so they are looked for first."""

VOCABULARIES: Final = ("vocabulary.json", "vocabulary.txt")

HUB_SECONDS: Final = 10
"""How long the hub may take to answer."""

_SYSTRAN: Final = ("tiny", "base", "small", "medium", "large-v1", "large-v2", "large-v3")

_ENGLISH: Final = ("tiny.en", "base.en", "small.en", "medium.en")

MODELS: Final = {size: f"Systran/faster-whisper-{size}" for size in (*_SYSTRAN, *_ENGLISH)} | {
    "turbo": "mobiuslabsgmbh/faster-whisper-large-v3-turbo"
}
"""Where the hub keeps them (upstream `faster_whisper.utils`, whose own download warns of an argument it passes)."""


def missing_files(folder: Path) -> list[str]:
    """Return the names of the files that a CTranslate2 Whisper model lacks in this folder; none for a whole one."""
    missing = [name for name in NEEDED if not (folder / name).is_file()]
    if not any((folder / name).is_file() for name in VOCABULARIES):
        missing.append(VOCABULARIES[0])
    return missing


def check_model_folder(folder: Path) -> None:
    """Raise `ModelNotFound` unless the folder holds a whole CTranslate2 Whisper model."""
    if not folder.is_dir():
        raise ModelNotFound(f"{folder} is no folder; set [ears] model to a Whisper model's folder, or to a name")
    if missing := missing_files(folder):
        raise ModelNotFound(
            f"{folder} is no faster-whisper model: {', '.join(missing)} missing; set [ears] model to a whole one"
        )


def find_model(folder: Path) -> Path | None:
    """Return the folder if a whole model is in it, else None."""
    return folder if folder.is_dir() and not missing_files(folder) else None


def fetch_model(name: str, models: Path, hub: str = "") -> Path:
    """Fetch a model by its faster-whisper name into `models`/name and return that folder. Blocking, minutes.

    `hub` is the hub's address, "" for its client's choice. An interrupted download goes on where it stopped.
    Raises `ModelNotFound` when the hub cannot be reached, has no such model, or sent an incomplete one.
    """
    from httpx import HTTPError
    from huggingface_hub import snapshot_download

    repository, target = repository_of(name), models / name
    try:
        with _online():
            snapshot_download(
                repository,
                local_dir=target,
                etag_timeout=HUB_SECONDS,
                allow_patterns=[*NEEDED, *VOCABULARIES],
                endpoint=hub or None,
            )
    except (OSError, ValueError, RuntimeError, HTTPError) as error:  # the hub's errors are of these kinds
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ModelNotFound(
            f"the model {name} could not be fetched ({first[:200]}); "
            f"look at the network, or put its files into {target} by hand"
        ) from error
    check_model_folder(target)
    return target


def repository_of(name: str) -> str:
    """Return where the hub keeps the model that faster-whisper calls so. Raises `ModelNotFound` for an unknown name."""
    if name not in MODELS:
        raise ModelNotFound(f"there is no Whisper model {name!r}; take one of {', '.join(MODELS)}")
    return MODELS[name]


@contextmanager
def _online() -> Iterator[None]:
    """Let the hub's client out for one fetch, without progress bars; everywhere else the box keeps it offline."""
    from huggingface_hub import constants
    from huggingface_hub.utils.tqdm import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

    was_offline, had_bars = constants.HF_HUB_OFFLINE, not are_progress_bars_disabled()
    constants.HF_HUB_OFFLINE = False
    disable_progress_bars()
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = was_offline
        if had_bars:
            enable_progress_bars()
