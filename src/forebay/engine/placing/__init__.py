"""Nodes chosen by where they stand in the network, instead of the lowest."""
