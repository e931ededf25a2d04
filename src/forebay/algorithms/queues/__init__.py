"""Lines of jobs and of events, in order: trees, heaps, and sorting."""
