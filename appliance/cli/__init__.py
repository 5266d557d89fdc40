"""What `nakari` can be told to do; each command imports what it needs when it is told, so that --help is instant."""

from appliance.cli import (
    backup,
    bench,
    configuration,
    events,
    handover,
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

__all__ = [
    "EPILOG",
    "backup",
    "bench",
    "configuration",
    "events",
    "handover",
    "insight",
    "listening",
    "look",
    "machines",
    "memory",
    "models",
    "nakari",
    "owners",
    "satellites",
    "shell",
    "talk",
    "tokens",
    "voices",
]
