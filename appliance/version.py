"""Which nakari this is."""

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed


def version() -> str:
    """Return the installed version; "not installed" for a source tree that scripts/setup has not seen."""
    try:
        return installed("nakari")
    except PackageNotFoundError:
        return "not installed"
