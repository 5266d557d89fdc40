"""The web: pages of strangers, fetched behind a guard and read in a child process; search; the weather."""
