"""One module a file format: `DESCRIPTION`, `SUFFIXES`, `matches(head)`, `read(path)`, `write(workload, path)`.

A module dropped in this folder, or an entry point `forebay.workload.formats`, is a format; nothing else to edit.
"""
