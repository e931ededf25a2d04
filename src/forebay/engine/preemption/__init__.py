"""A policy asks a running job to leave."""
