"""Text normalization: figures, signs and abbreviations in words, as they are read aloud; English and Chinese."""
