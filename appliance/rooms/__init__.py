"""Rooms: where nakari hears and speaks, who is heard where, and one event for a sentence that several rooms hear."""
