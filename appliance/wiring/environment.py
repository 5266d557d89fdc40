"""What lies outside the program, chosen: microphone, loudspeaker, voices, models, clock."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Final

from agent.model.interface import CachedPrefix, ChatModel
from appliance.config.load import Config
from appliance.config.options import RunOptions
from appliance.input.source import looked_for, open_source
from appliance.model.choose import choose_models
from appliance.output.voices import choose_voice, open_player
from audio.interfaces import AudioSource, Player, Synthesizer


@dataclass(frozen=True, slots=True)
class Environment:
    """What lies outside the program: sound card, voices, models, clock; a simulated room has its own."""

    source: Callable[[Config, RunOptions], AudioSource | None] = open_source
    """None without a microphone."""
    player: Callable[[Config, RunOptions], Awaitable[Player]] = open_player
    voice: Callable[[Config], Synthesizer] = choose_voice
    models: Callable[[Config, CachedPrefix], Awaitable[Sequence[ChatModel]]] = choose_models
    """Asked with what finds the conversation of the room."""
    clock: Callable[[], float] = monotonic
    """Seconds, the same as the source's and the player's."""


REAL: Final = Environment()


def around(source: AudioSource | None) -> Environment:
    """Return what is real, with a source that was chosen before."""
    return replace(REAL, source=lambda config, _: looked_for(config, source))
