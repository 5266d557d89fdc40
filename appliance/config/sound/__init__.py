"""Sections about sound: recognizers, voices, devices in other rooms."""
