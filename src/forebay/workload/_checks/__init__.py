"""What rows of a workload must be, and what looks odd in them."""
