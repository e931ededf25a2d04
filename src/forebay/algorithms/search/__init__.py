"""Searches for a good choice among many, and for the best."""
