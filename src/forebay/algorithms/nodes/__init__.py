"""Sets of nodes: what is in them, who fits, and how they are written."""
