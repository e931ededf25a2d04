"""From inputs to the tables of a run, and all validation."""
