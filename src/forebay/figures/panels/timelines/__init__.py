"""Pictures with time on their axis."""
