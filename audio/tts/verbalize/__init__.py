"""Figures, signs and abbreviations in words, as a person would read them aloud; English and Chinese."""
