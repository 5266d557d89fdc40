"""What tests of crashes share: folders in memory, which outlive a killed process."""

from tests.in_memory import tmp_path

__all__ = ["tmp_path"]
