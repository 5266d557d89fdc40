"""Commands for other machines, programs and shells."""
