"""The line of waiting jobs: its order, and how a long one is passed over."""
