"""The ways out: replies spoken in the room, or written to who asked in writing."""
