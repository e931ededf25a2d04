"""All that knows how Numba works inside: the compiler's settings, and what it lacks."""
