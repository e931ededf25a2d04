"""Nodes that a site has set aside for a time."""
