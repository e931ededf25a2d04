"""Words that everyone shares: codes, tables, units. No algorithms."""
