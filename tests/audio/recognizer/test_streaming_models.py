"""What lies in a folder of a streaming model, told without loading it; each fault is one sentence with the fix."""

import shutil
from pathlib import Path

import pytest

from audio.errors import ModelDamaged, ModelNotFound
from audio.onnx_file import read_metadata
from audio.recognizer.sherpa_onnx import streaming_model
from tests.audio.spoken import HOUSEHOLD_STREAMING

TOKENS = "<blk> 0\n▁a 1\n"


def a_number(value: int) -> bytes:
    """Return a number as protobuf writes it."""
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + a_number(value >> 7)


def a_field(number: int, content: bytes) -> bytes:
    return a_number(number << 3 | 2) + a_number(len(content)) + content


def an_onnx(metadata: dict[str, str], weights: int = 1000) -> bytes:
    """Return an ONNX file of nothing but a version, a graph of so many bytes, and metadata."""
    pairs = [a_field(14, a_field(1, key.encode()) + a_field(2, value.encode())) for key, value in metadata.items()]
    return b"\x08\x08" + a_field(7, bytes(weights)) + b"".join(pairs)


def a_folder(folder: Path, *names: str, tokens: str | None = TOKENS, **metadata: str) -> Path:
    for name in names:
        (folder / name).write_bytes(an_onnx(metadata))
    if tokens is not None:
        (folder / "tokens.txt").write_text(tokens, encoding="utf-8")
    return folder


def test_metadata_is_read_past_weights_of_any_size(tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    file.write_bytes(an_onnx({"window_size": "19", "comment": "说"}, weights=300_000))
    assert read_metadata(file) == {"window_size": "19", "comment": "说"}
    assert read_metadata(HOUSEHOLD_STREAMING / "model.onnx")["chunk_shift"] == "16"


def test_the_files_tell_which_kind_of_model_it_is(tmp_path: Path) -> None:
    ours = streaming_model(HOUSEHOLD_STREAMING)
    assert (ours.kind, set(ours.files)) == ("nemo_ctc", {"model"})
    folder = a_folder(tmp_path, "encoder-epoch-99-avg-1.onnx", "decoder-epoch-99-avg-1.onnx")
    assert streaming_model(folder).kind == "paraformer"
    a_folder(folder, "joiner-epoch-99-avg-1.onnx", "encoder-epoch-99-avg-1.int8.onnx")
    found = streaming_model(folder)
    assert found.kind == "transducer"
    assert {role: file.name for role, file in found.files.items()} == {
        "encoder": "encoder-epoch-99-avg-1.int8.onnx",
        "decoder": "decoder-epoch-99-avg-1.onnx",
        "joiner": "joiner-epoch-99-avg-1.onnx",
    }


@pytest.mark.parametrize(
    ("kind", "keys"),
    [
        ("zipformer2_ctc", "encoder_dims num_encoder_layers left_context_len decode_chunk_len T"),
        ("wenet_ctc", "head num_blocks output_size cnn_module_kernel right_context"),
    ],
)
def test_a_model_in_one_file_is_told_by_its_metadata(tmp_path: Path, kind: str, keys: str) -> None:
    folder = a_folder(tmp_path, "ctc-epoch-20-avg-1-chunk-16-left-128.onnx", **dict.fromkeys(keys.split(), "1"))
    assert streaming_model(folder).kind == kind


MISSING = {
    "no folder": ("gone", "there is no folder"),
    "empty": ("", "has no tokens.txt"),
    "tokens alone": ("tokens.txt", "there is no streaming model"),
    "no decoder": ("encoder.onnx joiner.onnx tokens.txt", r"has no decoder\*\.onnx"),
    "no encoder": ("decoder.onnx tokens.txt", r"has no encoder\*\.onnx"),
    "not streaming": ("model.onnx tokens.txt", "is none that streams"),
}


@pytest.mark.parametrize("what", MISSING)
def test_what_is_missing_is_named_with_the_fix(tmp_path: Path, what: str) -> None:
    names, told = MISSING[what]
    files = [name for name in names.split() if name.endswith(".onnx")]
    folder = a_folder(tmp_path, *files, tokens=TOKENS if "tokens.txt" in names else None)
    folder = folder / names if names == "gone" else folder
    with pytest.raises(ModelNotFound, match=f"{told}.*; unpack a streaming model of sherpa-onnx there, or correct "):
        streaming_model(folder)


DAMAGES = {
    "cut short": lambda file: file.write_bytes(file.read_bytes()[:-40]),
    "cut in the weights": lambda file: file.write_bytes(file.read_bytes()[:9000]),
    "empty": lambda file: file.write_bytes(b""),
    "something else": lambda file: file.write_text("<html>no such page</html>", encoding="utf-8"),
}


@pytest.mark.parametrize("how", DAMAGES)
def test_a_file_that_breaks_off_is_damaged(tmp_path: Path, how: str) -> None:
    folder = shutil.copytree(HOUSEHOLD_STREAMING, tmp_path / "model")
    DAMAGES[how](folder / "model.onnx")
    with pytest.raises(ModelDamaged, match=r"is no whole ONNX file .*; remove the folder and unpack the model again"):
        streaming_model(folder)


@pytest.mark.parametrize("tokens", ["", "a b c\n", "▁a 0\n▁b 1\n", "<html>\n"])
def test_a_list_of_tokens_that_is_none_is_damaged(tmp_path: Path, tokens: str) -> None:
    folder = shutil.copytree(HOUSEHOLD_STREAMING, tmp_path / "model")
    (folder / "tokens.txt").write_text(tokens, encoding="utf-8")
    with pytest.raises(ModelDamaged, match=r"tokens\.txt .*unpack the model again"):
        streaming_model(folder)
    (folder / "tokens.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ModelDamaged, match="is no text"):
        streaming_model(folder)
