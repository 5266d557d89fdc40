"""How much room the disk of the state should have, alike for the status and the doctor."""

from typing import Final

LITTLE_SPACE: Final = 1_000_000_000
"""Bytes: a Whisper model and a month of journal still fit."""

NO_SPACE: Final = 200_000_000
"""Bytes; with less a download or a backup fills it."""
