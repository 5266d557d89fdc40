"""What `nakari` can be told to do; each command imports what it needs when it is told, so that --help is instant."""
# ruff: noqa: F401  each module registers its commands

from appliance.cli.choose import configuration, models, owners
from appliance.cli.connect import machines, shell
from appliance.cli.listen import listening, satellites
from appliance.cli.look_after import bench, insight, look
from appliance.cli.remember import events, memory
from appliance.cli.root import EPILOG, nakari
from appliance.cli.talk import talk

__all__ = ["EPILOG", "nakari"]
