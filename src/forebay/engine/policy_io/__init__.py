"""What policies see and say."""
