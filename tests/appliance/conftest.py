"""What tests of the box share: folders in memory, so that nobody waits for a disk that nobody asks about."""

from tests.in_memory import tmp_path

__all__ = ["tmp_path"]
