"""Plans of all waiting jobs, and the search for the best."""
