"""A machine as users declare it: TOML, moments, traces of outages, and complaints about them."""
