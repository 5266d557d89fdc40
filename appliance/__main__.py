"""`python -m appliance` is `nakari`."""

import sys

from appliance.cli import main

if __name__ == "__main__":
    sys.exit(main())
