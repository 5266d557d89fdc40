"""Figures that tests measure on their way; the run ends with them."""

FIGURES: list[str] = []


def figure(name: str, value: str) -> None:
    """Keep a figure for the end of the run."""
    FIGURES.append(f"{name}: {value}")
