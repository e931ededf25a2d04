"""Queue policies: starts in order, reservations, and jobs that pass them."""
