"""The sentence model of the box: which one, whether it is here, and how it comes."""

import asyncio
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final

import structlog
from msgspec import Struct

from appliance.config.load import Config
from appliance.input.whisper.choice import whisper_settings
from appliance.input.whisper.recognizers import pull
from audio.errors import ModelNotFound
from audio.recognizer.models.hub import HubModel, last_name
from memory.vectors.embedding import Embedder
from memory.vectors.embedding_local import MODELS, LocalEmbedder

log = structlog.get_logger()

NAME: Final = "multilingual-e5-small"
"""A hundred languages, 384 numbers, MIT; made for search: a question and what answers it (0113)."""

FORMER: Final = "paraphrase-multilingual-MiniLM-L12-v2"
"""What came before it: a box that has it keeps it, for the vectors in its graph are of that model."""

MEGABYTES: Final = 135
"""Of its network in int8 and its tokenizer, about; the hub tells the true size."""

REPOSITORY: Final = f"Xenova/{NAME}"

NETWORK: Final = "onnx/model_quantized.onnx"
"""The file of the hub that holds the network in int8, for every kind of processor."""

TRY_AGAIN_SECONDS: Final = 3600.0
"""Between two tries of a fetch that failed."""


def wanted() -> HubModel:
    """Return what the hub is to be asked for."""
    needed = (last_name(NETWORK), "tokenizer.json")

    def missing(names: Collection[str]) -> list[str]:
        return [name for name in needed if name not in names]

    return HubModel(NAME, "sentence model", REPOSITORY, (NETWORK, "tokenizer.json"), missing)


class SentenceSettings(Struct, frozen=True):
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
    return SentenceSettings(is_wanted, config.ears.download, hearing.models_folder, config.file)


def is_here(models_folder: Path) -> bool:
    """Say whether the box has a model whole, this one or the former."""
    folder = usual_folder(models_folder)
    return folder.name == FORMER or wanted().is_in(folder)


def usual_folder(models_folder: Path) -> Path:
    """Return where the model is, or is to be: the former one's only while it is the one that is here."""
    former = models_folder / FORMER
    has_former = (former / "tokenizer.json").is_file() and any((former / name).is_file() for name in MODELS)
    return former if has_former and not wanted().is_in(models_folder / NAME) else models_folder / NAME


def usual_embedder(settings: SentenceSettings) -> Embedder:
    """Return who makes vectors by "auto": that model, once it is here; a sentence says what is so until then."""
    coming = "it is being fetched" if settings.download else f"`nakari models pull {NAME}` fetches it"
    absent = (
        f"there is no embedding model here yet ({coming}); everything else works: "
        "search by words, toLower(n.x) CONTAINS toLower($words)"
    )
    return LocalEmbedder(usual_folder(settings.models_folder), absent)


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
