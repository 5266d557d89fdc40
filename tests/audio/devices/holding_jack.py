"""Has JACK's database open, as libjack does while it waits for a lock in it, and does nothing more."""

import signal
import sys

from tests.audio.devices.jack_database import database_open

if __name__ == "__main__":
    with database_open(sys.argv[1]):
        signal.pause()
