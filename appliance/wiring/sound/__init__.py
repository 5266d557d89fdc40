"""Ears and mouths, put together: of this room, of others, and of whoever comes by a page."""
