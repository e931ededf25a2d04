"""Who may read or write now: transfers that ask for the file system, and a scheduler that gives each a share."""
