"""Advice for administrators: commands and lines of files, each with what is expected of it. Nothing is run."""
