"""A household's year in virtual time: the whole box, but for sound card, clock and language model."""
