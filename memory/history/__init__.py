"""The graph's history: the one writer, audit log, snapshots, replay, restore, erasure."""
