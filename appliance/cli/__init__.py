"""What `nakari` can be told to do; each command imports what it needs when it is told, so that --help is instant."""
# ruff: noqa: F401  each module registers its commands

from appliance.cli import (
    backup,
    bench,
    configuration,
    events,
    insight,
    listening,
    look,
    machines,
    memory,
    models,
    owners,
    satellites,
    shell,
    talk,
    tokens,
    voices,
)
from appliance.cli.root import EPILOG, nakari

__all__ = ["EPILOG", "nakari"]
