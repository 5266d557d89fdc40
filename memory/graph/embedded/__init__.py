"""The store that comes with the box: a child process, its folder, its indexes."""
