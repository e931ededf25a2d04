"""One module a file format: `DESCRIPTION`, `SUFFIXES`, `matches(head)`, `read(path)`, `write(workload, path)`.

A format that records jobs which were cancelled before they started reads them where asked: `read(path, cancelled)`,
with "drop" or "keep".

A module dropped in this folder, or an entry point `forebay.workload.formats`, is a format; nothing else to edit.
"""
