"""The ears of a mind on another machine: what is said goes there, its sentences are spoken here."""
