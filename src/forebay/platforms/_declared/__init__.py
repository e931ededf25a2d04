"""A machine as users declare it: TOML, its fields with units, and complaints about them."""
