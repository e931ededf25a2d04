"""Transfers over shared links, and the routes that they take."""
