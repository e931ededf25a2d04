"""ElastiSim's world: its jobs, application models, platforms and configurations read, its algorithms run."""
