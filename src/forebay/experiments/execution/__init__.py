"""How runs are carried out: here, in processes on all cores, or by workers of a cluster."""
