"""What will be free when, and jobs that are laid into it."""
