"""Many runs: each described as plain data, carried out on all cores, kept in a folder, and compared between runs."""
