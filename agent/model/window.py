"""The context window of a model: how many tokens it reads, and who said so."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Window:
    """What a model reads at most: its prompt, the tools and its own answer together."""

    tokens: int = 0
    """0 while nobody knows."""
    source: str = ""
    """Who said so, for people: "configuration", "/props", "/v1/models", a refusal, …; "" while nobody did."""
