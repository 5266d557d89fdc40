"""The models that both sides of a figure load."""

import importlib.util
from pathlib import Path
from typing import Final


def _silero() -> Path:
    """Return Silero's file without importing its package, which wants torch."""
    spec = importlib.util.find_spec("silero_vad")
    assert spec is not None, "scripts/setup installs silero-vad"
    assert spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0]) / "data" / "silero_vad_16k_sequence.onnx"


SILERO: Final = _silero()
