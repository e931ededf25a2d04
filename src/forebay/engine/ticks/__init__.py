"""A policy that is called by the clock alone, every minute say."""
