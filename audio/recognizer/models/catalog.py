"""Whisper models: how they are called, where the hub keeps them, and which are here."""

from collections.abc import Collection
from pathlib import Path
from typing import Final

from msgspec import Struct

from audio.errors import ModelNotFound

WEIGHTS: Final = "model.bin"

NEEDED: Final = ("config.json", WEIGHTS, "tokenizer.json")
"""faster-whisper goes to the hub by itself for a folder that lacks one of them: so they are looked for first."""

VOCABULARIES: Final = ("vocabulary.json", "vocabulary.txt")
"""One of them is needed: the hub has .txt with the older models, .json with large-v3 and turbo."""

PREPROCESSOR: Final = "preprocessor_config.json"
"""Only large-v3 and turbo, which have other features than all before, come with it (SubtitleEdit#12870 lists who)."""

PART: Final = ".part"
"""What the folder of a model's name ends in as long as the model is not whole."""

MEGABYTES: Final = {
    **{"tiny": 75, "base": 145, "small": 484, "medium": 1528},
    **{"tiny.en": 75, "base.en": 145, "small.en": 484, "medium.en": 1528},
    **{"large-v1": 3087, "large-v2": 3087, "large-v3": 3087, "turbo": 1618},
}
"""What a download weighs, about: two bytes for each parameter. For the list only; the hub tells the true size."""

MODELS: Final = {name: f"Systran/faster-whisper-{name}" for name in MEGABYTES} | {
    "turbo": "mobiuslabsgmbh/faster-whisper-large-v3-turbo"
}
"""Where the hub keeps them (upstream `faster_whisper.utils`, whose own download warns of an argument it passes)."""


class Model(Struct, frozen=True):
    """A whole model on this machine."""

    name: str
    folder: Path
    size: int
    """Bytes of its weights."""

    def understands(self, language: str) -> bool:
        """Say whether it may know this language, "" for any: a name that ends in .en knows English only."""
        return language == "en" or not self.name.endswith(".en")


def missing_of(names: Collection[str]) -> list[str]:
    """Return what is missing in these file names to a CTranslate2 Whisper model; nothing for a whole one."""
    missing = [name for name in NEEDED if name not in names]
    if not any(name in names for name in VOCABULARIES):
        missing.append(VOCABULARIES[0])
    return missing


def missing_files(folder: Path) -> list[str]:
    """Return the names of the files that a CTranslate2 Whisper model lacks in this folder; none for a whole one."""
    return missing_of([name for name in (*NEEDED, *VOCABULARIES) if (folder / name).is_file()])


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


def models_in(folder: Path) -> list[Model]:
    """Return the whole models below a folder, smallest first; one's own, under any name, are among them."""
    if not folder.is_dir():
        return []
    found = [each for each in folder.iterdir() if each.suffix != PART and find_model(each)]
    models = [Model(each.name, each, (each / WEIGHTS).stat().st_size) for each in found]
    return sorted(models, key=lambda model: (model.size, model.name))


def repository_of(name: str) -> str:
    """Return where the hub keeps the model that faster-whisper calls so. Raises `ModelNotFound` for an unknown name."""
    if name not in MODELS:
        raise ModelNotFound(f"there is no Whisper model {name!r}; take one of {', '.join(MODELS)}")
    return MODELS[name]


LANGUAGES: Final = (
    "af am ar as az ba be bg bn bo br bs ca cs cy da de el en es et eu fa fi fo fr gl gu ha haw he hi hr ht hu hy id "
    "is it ja jv ka kk km kn ko la lb ln lo lt lv mg mi mk ml mn mr ms mt my ne nl nn no oc pa pl ps pt ro ru sa sd "
    "si sk sl sn so sq sr su sv sw ta te tg th tk tl tr tt uk ur uz vi yi yo yue zh"
)
"""What a Whisper model of several languages was trained on (upstream `tokenizer.py`), as ISO 639 has them."""


def languages_of(recognizer: str, language: str) -> tuple[str, ...]:
    """Return what a recognizer of this name understands in a house of this language (ISO 639-1, "" or "auto" for any).

    The last resort knows English, and so does a model whose name ends in .en.
    """
    if recognizer == "pocketsphinx" or recognizer.endswith(".en"):
        return ("en",)
    return tuple(LANGUAGES.split()) if language in ("", "auto") else (language,)
