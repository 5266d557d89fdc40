"""Parsers that strangers reach, fed what hypothesis makes up: for a stated time, and a short sample in the tests."""
