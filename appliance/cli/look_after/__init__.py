"""Commands that tell how it is, and why: doctor, status, log, turns, measurements."""
