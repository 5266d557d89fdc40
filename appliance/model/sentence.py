"""The sentence model of the box: which one, whether it is here, and how it comes."""

import asyncio
import platform
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import structlog

from appliance.config.load import Config
from appliance.input.whisper.pull import pull
from appliance.input.whisper.settings import whisper_settings
from audio.errors import ModelNotFound
from audio.recognizer.hub import HubModel, last_name
from memory.vectors.embedding import Embedder
from memory.vectors.embedding_local import LocalEmbedder

log = structlog.get_logger()

NAME: Final = "paraphrase-multilingual-MiniLM-L12-v2"
"""Some fifty languages, 384 numbers, Apache-2.0; the same text is question and answer, without prefixes (0023)."""

MEGABYTES: Final = 128
"""Of its network in int8 and its tokenizer, about; the hub tells the true size."""

REPOSITORY: Final = f"sentence-transformers/{NAME}"

TRY_AGAIN_SECONDS: Final = 3600.0
"""Between two tries of a fetch that failed."""


def network(processor: str = "") -> str:
    """Return the file of the hub that holds the network in int8 for a kind of processor, "" for this one."""
    is_arm = (processor or platform.machine()) in ("aarch64", "arm64")
    return "onnx/model_qint8_arm64.onnx" if is_arm else "onnx/model_quint8_avx2.onnx"


def wanted() -> HubModel:
    """Return what the hub is to be asked for."""
    needed = (last_name(network()), "tokenizer.json")

    def missing(names: Collection[str]) -> list[str]:
        return [name for name in needed if name not in names]

    return HubModel(
        NAME, "sentence model", REPOSITORY, (network(), "tokenizer.json", "sentence_bert_config.json"), missing
    )


@dataclass(frozen=True, slots=True)
class SentenceSettings:
    """What is set about it."""

    is_wanted: bool
    """Whether this box is to have it: vectors by "auto", and no model of the household's own."""
    download: bool
    """Whether it may be fetched."""
    models_folder: Path
    config_file: Path | None
    """What a nakari that is started to fetch it has to read; None where there is no file."""

    @property
    def is_to_be_fetched(self) -> bool:
        """Whether it is wanted, may be fetched, and is not here."""
        return self.is_wanted and self.download and not is_here(self.models_folder)


def sentence_settings(config: Config) -> SentenceSettings:
    """Return what the configuration says of it."""
    memory, hearing = config.memory, whisper_settings(config)
    is_wanted = memory.enabled and memory.embeddings == "auto" and not memory.embedding_model
    return SentenceSettings(is_wanted, hearing.download, hearing.models_folder, config.file)


def is_here(models_folder: Path) -> bool:
    """Say whether the box has it whole."""
    return wanted().is_in(models_folder / NAME)


def usual_embedder(settings: SentenceSettings) -> Embedder:
    """Return who makes vectors by "auto": that model, once it is here; a sentence says what is so until then."""
    coming = "it is being fetched" if settings.download else f"`nakari models pull {NAME}` fetches it"
    absent = (
        f"there is no embedding model here yet ({coming}); everything else works: "
        "search by words, toLower(n.x) CONTAINS toLower($words)"
    )
    return LocalEmbedder(settings.models_folder / NAME, absent)


async def keep_fetching(settings: SentenceSettings, came: Callable[[], None], again: float = TRY_AGAIN_SECONDS) -> None:
    """Fetch it if this box is to have it and may fetch; return when it is here, or is not to come."""
    while settings.is_to_be_fetched:
        try:
            await pull(NAME, settings.config_file)
            log.info("sentence_model_came", model=NAME)
            came()
        except ModelNotFound as error:
            log.warning("sentence_model_not_ready", model=NAME, reason=str(error))
            await asyncio.sleep(again)
