"""The command line: one file a command, assembled in main. Whatever is slow to import is imported inside commands."""
