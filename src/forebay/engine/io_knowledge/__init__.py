"""What policies know of jobs' reads and writes, where these ask for it."""
