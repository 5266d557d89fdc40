"""What tests of the memory share: folders in memory. A cut of the power reads what was synced off the system calls."""

from tests.in_memory import tmp_path

__all__ = ["tmp_path"]
