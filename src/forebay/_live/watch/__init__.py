"""A live queue, watched: a snapshot and predictions every minute, kept, and held against what came. Read only."""
