"""Several machines of one household: what is ears here and mind there, and one that takes over."""
