"""One file an I/O scheduler: `arrange` gives each job that asks for the file system a weight, 0 to hold it."""
