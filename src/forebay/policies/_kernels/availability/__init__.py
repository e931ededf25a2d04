"""What is free, now and later, as policies see it."""
