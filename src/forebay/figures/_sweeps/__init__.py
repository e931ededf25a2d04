"""Pictures of sweeps, one file each; `amounts` are their axes."""
