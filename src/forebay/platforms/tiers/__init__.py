"""Storage tiers and counted pools, one kind a file: each defines DESCRIPTION and the model `Tier`."""
