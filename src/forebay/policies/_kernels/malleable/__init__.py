"""Policies that choose how many nodes a job has."""
