"""Nodes fail and come back."""
