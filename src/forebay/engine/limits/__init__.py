"""What jobs of a user, group or account may have running together."""
