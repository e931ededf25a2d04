"""Jobs that wait for others."""
