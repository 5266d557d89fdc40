"""The whole suite: one folder a package, the room, the service, and the architecture itself."""
