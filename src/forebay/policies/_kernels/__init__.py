"""The compiled halves of policy families: what a family in _families names."""
