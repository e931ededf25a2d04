"""Pictures of times held against times: recorded against simulated waits, and policies against bounds."""
