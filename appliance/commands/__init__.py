"""What `nakari` can be told to do; each command imports what it needs when it is told, so that --help is instant."""

from appliance.commands import configuration, devices, heard, hush, identity, journal, look, models, talk
from appliance.commands.root import EPILOG, nakari

__all__ = [
    "EPILOG",
    "configuration",
    "devices",
    "heard",
    "hush",
    "identity",
    "journal",
    "look",
    "models",
    "nakari",
    "talk",
]
