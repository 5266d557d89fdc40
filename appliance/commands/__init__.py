"""What `nakari` can be told to do; each command imports what it needs when it is told, so that --help is instant."""

from appliance.commands import configuration, heard, look, models, talk
from appliance.commands.root import EPILOG, nakari

__all__ = ["EPILOG", "configuration", "heard", "look", "models", "nakari", "talk"]
