"""Figures of ears and mouth."""
