"""Partitions that close for a time, and the jobs that wait for them."""
