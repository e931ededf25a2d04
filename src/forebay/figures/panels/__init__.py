"""Pictures of plain numbers that only studies draw, one file each: `draw(..., path)`; none is for `forebay plot`."""
