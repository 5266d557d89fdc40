"""Calendars, as far as the box itself looks after them."""
