"""Sound without hardware: a virtual sound card, and rooms to come."""
