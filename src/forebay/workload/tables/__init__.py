"""Any table of jobs: CSV or Parquet, by a mapping that says which of its columns is what, and in which unit.

`mapping` reads such a mapping from words, a TOML file or the names of those in `known`; `reading` makes the jobs of it;
`values` has what cells mean, as expressions over whole columns, so that tables of any length pass through in a stream.
"""
