"""One module a file format: `DESCRIPTION`, `SUFFIXES`, `matches(head)`, `read(path)`, `write(workload, path)`.

A format that records jobs which were cancelled before they started reads them where asked: `read(path, cancelled)`,
with "drop" or "keep". One of lines leaves out those that cannot be read where asked: `read(path, skip_bad_lines)`. One
that takes long calls `read(path, progress)` with the bytes done and in all. One that shares its suffix with another has
`claims(head)`: whether a file that begins so is its own, whatever it is called.

A module dropped in this folder, or an entry point `forebay.workload.formats`, is a format; nothing else to edit.
"""
