"""What it knows of itself, out of the running configuration and the adapters in use."""

from collections.abc import Callable

from agent.model.chain import Chain
from agent.prompts import Self
from appliance.config.load import Config
from appliance.egress import Egress, is_here, lasting_egress, model_egress
from appliance.model.catalog import catalog_of
from appliance.output.settings import SpeechSettings, speech_settings
from appliance.output.voices import voices_of
from appliance.wiring.memory.graph import store_of


def about(config: Config, models: Chain) -> Callable[[], Self]:
    """Return what tells what is so in this box; asked between two events, it lets the model that was chosen think."""
    voice, memory = _voice(speech_settings(config)), _memory(config)
    lasting, catalog = lasting_egress(config), catalog_of(config)

    def told() -> Self:
        name = models.settle()
        leaving = tuple(map(_clause, [*model_egress(catalog, models), *lasting]))
        return Self(name, voice, memory, leaving, config.mind.max_tool_calls)

    return told


def _clause(leaving: Egress) -> str:
    return f"{leaving.what}, to {leaving.to}"


def _voice(settings: SpeechSettings) -> str:
    """Return the names of the voices, the best first, and where each is that is not here."""
    told = []
    for voice in voices_of(settings):
        away = [sent.to for sent in voice.sends_to if not is_here(sent.to)]
        told.append(f"{voice.name} over the network ({', '.join(away)})" if away else f"{voice.name} on this machine")
    return ", or when it does not answer ".join(told)


def _memory(config: Config) -> str:
    if not config.memory.enabled:
        return ""
    away = [sent.to for sent in store_of(config).sends_to]
    return f"a Neo4j server at {away[0]}" if away else "this box's own store"
