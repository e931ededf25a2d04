"""Workloads that need no file: one module each, with `DESCRIPTION` and `make()`."""
