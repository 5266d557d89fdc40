"""Whether what was read may be acted on: what is left out, what was only talked of, and what is only likely."""
