"""Calendars: read over CalDAV or from an ICS file, kept for the day without a network, and reminded of."""
