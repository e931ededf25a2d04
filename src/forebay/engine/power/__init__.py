"""What nodes draw: a cap on all of them, and nodes that are switched off."""
