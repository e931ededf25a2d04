"""Files, text, processes and progress: what any room may use, and what knows nothing of scheduling."""
