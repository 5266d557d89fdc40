"""`python -m appliance` is `nakari`."""

import sys

from appliance.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
