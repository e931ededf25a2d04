"""Ready-made machines, one a file: each defines DESCRIPTION and `make`, whose signature gives its parameters."""
