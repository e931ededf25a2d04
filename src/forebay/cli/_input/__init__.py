"""What commands are given: options, completion of words, and the files and folders that they name."""
