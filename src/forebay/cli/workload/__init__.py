"""The commands of `forebay workload`."""
