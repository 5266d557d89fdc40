"""Folders of streaming models as sherpa-onnx's project publishes them: which kind lies there, and what is missing."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from audio.errors import ModelDamaged, ModelNotFound
from audio.onnx_file import read_metadata

Kind: TypeAlias = Literal["transducer", "paraformer", "zipformer2_ctc", "nemo_ctc", "wenet_ctc"]

CTC_KEYS: Final[Mapping[Kind, Sequence[str]]] = {
    "zipformer2_ctc": ("encoder_dims", "num_encoder_layers", "left_context_len", "decode_chunk_len", "T"),
    "nemo_ctc": ("window_size", "chunk_shift", "cache_last_channel_dim1", "cache_last_time_dim1", "vocab_size"),
    "wenet_ctc": ("head", "num_blocks", "output_size", "cnn_module_kernel", "right_context"),
}
"""What the metadata of a streaming model in one file has; those of models for whole utterances lack some of it."""

BLANKS: Final = frozenset({"<blk>", "<eps>", "<blank>"})

TRANSDUCER: Final = ("encoder", "decoder", "joiner")

FETCH: Final = "unpack a streaming model of sherpa-onnx there, or correct [streaming_recognizer] model"


class StreamingModel(Struct, frozen=True):
    """A model folder that is complete, as far as can be told without loading it."""

    kind: Kind
    tokens: Path
    files: Mapping[str, Path]
    """By role: encoder, decoder, joiner; or model alone."""


def streaming_model(folder: Path) -> StreamingModel:
    """Return what lies in a folder; of several files for one role the int8 one, which is smaller and faster.

    Raises `ModelNotFound` for what is missing and `ModelDamaged` for what is no such file, each with the fix.
    """
    if not folder.is_dir():
        raise ModelNotFound(f"there is no folder {folder} with a streaming model; {FETCH}")
    tokens = folder / "tokens.txt"
    if not tokens.is_file():
        raise ModelNotFound(f"the streaming model in {folder} has no tokens.txt; {FETCH}")
    roles = {role: found for role in (*TRANSDUCER, "model") if (found := _file_of(folder, role)) is not None}
    if "encoder" in roles or "decoder" in roles:
        roles.pop("model", None)
        missing = [role for role in TRANSDUCER[:2] if role not in roles]
        if missing:
            raise ModelNotFound(f"the streaming model in {folder} has no {' and no '.join(missing)}*.onnx; {FETCH}")
        kind: Kind = "transducer" if "joiner" in roles else "paraformer"
    elif "model" in roles:
        kind = _kind_of(roles["model"], folder)
    else:
        raise ModelNotFound(f"there is no streaming model (*.onnx) in {folder}; {FETCH}")
    _check_tokens(tokens, needs_blank=kind != "paraformer")
    for file in roles.values():
        read_metadata(file)
    return StreamingModel(kind, tokens, roles)


def _file_of(folder: Path, role: str) -> Path | None:
    named = [each for each in sorted(folder.glob("*.onnx")) if each.is_file()]
    if role == "model":
        found = [each for each in named if not each.name.startswith(TRANSDUCER)]
    else:
        found = [each for each in named if each.name.startswith(role)]
    return min(found, key=lambda each: (".int8" not in each.name, each.name), default=None)


def _kind_of(file: Path, folder: Path) -> Kind:
    metadata = read_metadata(file)
    for kind, keys in CTC_KEYS.items():
        if all(key in metadata for key in keys):
            return kind
    raise ModelNotFound(f"the model in {folder} is none that streams, by the metadata of {file.name}; {FETCH}")


def _check_tokens(file: Path, *, needs_blank: bool) -> None:
    """Raise `ModelDamaged` for a list of tokens that is none: the library would end the process for it."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise ModelDamaged(f"{file} is no text; remove the folder and unpack the model again") from error
    numbers = [line.rsplit(maxsplit=1)[-1] for line in lines if line.strip()]
    if not numbers or not all(each.isdigit() for each in numbers):
        raise ModelDamaged(f"{file} is no list of tokens; remove the folder and unpack the model again")
    if needs_blank and BLANKS.isdisjoint(line.rsplit(maxsplit=1)[0] for line in lines if line.strip()):
        raise ModelDamaged(f"{file} has no blank token, so it is not whole; unpack the model again")
