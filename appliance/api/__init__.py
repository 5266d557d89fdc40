"""The door for programs on this machine: a Unix socket, what can be asked there, and who asks."""
