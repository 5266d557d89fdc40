"""What a setting means, for `nakari config show` and the default file."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Meaning:
    """What `nakari config show` says of a setting."""

    text: str
    unit: str = ""
