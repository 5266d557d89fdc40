"""Confined access to this machine: allow-listed folders, and a sandbox without network for code."""
