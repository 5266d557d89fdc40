"""The embedded store, ArcadeDB: a child process, its folder, its indexes."""
