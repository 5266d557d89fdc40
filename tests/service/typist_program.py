"""Types commands into one process after another: a list of arguments in JSON a line, answered by code and output."""

import io
import json
import sys
from contextlib import redirect_stdout

from appliance.cli.main import main

if __name__ == "__main__":
    for line in sys.stdin:
        with redirect_stdout(io.StringIO()) as out:
            code = main(json.loads(line))
        sys.stdout.write(json.dumps([code, out.getvalue()]) + "\n")
        sys.stdout.flush()
