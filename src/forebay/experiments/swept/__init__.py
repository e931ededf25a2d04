"""What a sweep has found: its runs, kept or under way, their figures and their table."""
