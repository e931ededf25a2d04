"""Metrics of users' own: a script or notebook defines them, or a file that a command names.

A run is given the names of those that it is to have: files, which any process can read, or what stays in this process.
"""
