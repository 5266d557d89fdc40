"""Who speaks: a voice as a vector, the voices that are known, and a guess with a margin."""
