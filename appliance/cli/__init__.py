"""What `nakari` can be told to do; each command imports what it needs when it is told, so that --help is instant."""

from appliance.cli import (
    backup,
    calibrate,
    configuration,
    devices,
    forget,
    heard,
    hush,
    identity,
    journal,
    look,
    mailbox,
    memory,
    model,
    models,
    programs,
    settings,
    talk,
)
from appliance.cli.root import EPILOG, nakari

__all__ = [
    "EPILOG",
    "backup",
    "calibrate",
    "configuration",
    "devices",
    "forget",
    "heard",
    "hush",
    "identity",
    "journal",
    "look",
    "mailbox",
    "memory",
    "model",
    "models",
    "nakari",
    "programs",
    "settings",
    "talk",
]
