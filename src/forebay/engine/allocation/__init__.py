"""What a leg takes when it starts, and gives back."""
