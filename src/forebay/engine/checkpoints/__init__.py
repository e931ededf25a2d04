"""Running jobs save their work."""
