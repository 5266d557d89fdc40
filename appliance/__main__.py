"""`nakari`, also as `python -m appliance`: Ctrl-C ends it without a word from here on, while it imports too."""

import sys


def main() -> int:
    """Run the command and return its exit code."""
    try:
        from appliance.cli.main import main as run  # which takes a second on a small board

        return run()
    except KeyboardInterrupt:
        from appliance.errors import INTERRUPTED

        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
