"""A copy of the state database on each machine: records of the log, and snapshots that begin it."""
