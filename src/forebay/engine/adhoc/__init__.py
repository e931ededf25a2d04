"""Servers that come and go with a job."""
