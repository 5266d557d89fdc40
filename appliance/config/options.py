"""How `nakari` was called: what belongs to every command, and the options of `nakari run`."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from appliance.config.load import Config
    from appliance.config.network.machines import Role


@dataclass
class Invocation:
    """One call of the command, as far as it has come."""

    file: Path | None = None
    """The configuration file that --config names."""
    config: "Config | None" = None
    """Once it is loaded."""


class RunOptions(Struct, frozen=True):
    """The options of `nakari run`; without any it serves microphone, loudspeaker and doors until it is stopped."""

    input: Path | None = None
    """A recording that takes the microphone's place."""
    fast: bool = False
    """Read `input` as fast as it can be worked on, not in real time; without meaning when there is no `input`."""
    output: Path | None = None
    """A WAV file that takes the loudspeaker's place."""
    brief: bool = False
    """Opened for one question in writing: the graph and the loudspeaker come when they are first wanted."""
    deaf: bool = False
    """Open no microphone."""
    role: "Role | None" = None
    """What this machine does, in the place of `[machines] role`; None leaves that."""
    once: bool = False
    """End after the conversation: when nothing is pending and 120 s passed without speech, or `input` is used up."""
