"""What works without any model: commands by sentence, memory by the journal, and the honest word about the rest."""

from agent.intents.grammar import command_grammar
from agent.intents.model import OfflineModel

__all__ = ["OfflineModel", "command_grammar"]
