"""The tables that stand in YAML files beside the code: sentences, phrases, classes of words, the grammar."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def table(package: str, name: str) -> Mapping[str, Any]:
    """Return what stands in a package's file of this name, read once in a process."""
    import yaml

    # libyaml reads them in a tenth of the time, which is 0.2 s of every start; wheels have it, a build may not.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    read: Mapping[str, Any] = yaml.load(files(package).joinpath(name).read_text(encoding="utf-8"), loader)
    return read
