"""What works without any model: commands by sentence, memory by the journal, and the honest word about the rest."""
